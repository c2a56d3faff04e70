package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;

/// What somebody tries who wants more than his own rows, and what he learns from the answer: nothing.
class SecretsPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    static final List<String> INJECTIONS = List.of(
            "owner_id=eq.x') OR 1=1--",
            "1=1;DROP TABLE notes--=eq.x",
            "owner_id);DELETE FROM notes;--=eq.1",
            "owner_id=eq.1;drop table notes",
            "owner_id=eq." + ALICE + ",or,true",
            "owner_id=eq." + ALICE + "' OR 'a'='a",
            "secret_column=eq.1",
            "id=in.()",
            "id=eq.1) OR (1=1");

    @BeforeAll
    static void start() throws Exception {
        database = Notes.database("secrets");
        sluice = RunningSluice.on(database);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void a_token_that_is_not_good_opens_nothing_and_says_nothing_of_itself() {
        Claims alice = Claims.of(ALICE);
        TokenSigner stranger = TokenSigner.es256("test");
        List<String> bad = List.of(
                "nonsense",
                stranger.sign(alice),
                TokenSigner.unsigned(alice),
                sluice.sign(alice.expiresIn(Duration.ofHours(-1))),
                sluice.sign(alice.audience("another")),
                sluice.sign(alice.role("postgres")),
                sluice.token(ALICE) + "x");
        for (String token : bad) {
            SseClient refused = sluice.stream(token, shape("mine", "notes", ""));
            assertThat(refused.status()).as(token).isEqualTo(401);
            assertThat(refused.refusal())
                    .contains("\"unauthorized\"")
                    .doesNotContain(token)
                    .doesNotContain(ALICE);
        }
    }

    @Test
    void a_filter_for_somebody_elses_rows_is_refused() {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), filtered("owner_id=eq." + BOB))) {
            String ready = alice.await("ready").data();
            assertThat(ready)
                    .contains("\"ok\":false", "\"shape_not_authorized\"")
                    .doesNotContain(BOB);
        }
    }

    @Test
    void a_filter_for_her_own_rows_is_granted_by_the_same_rule() {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), filtered("owner_id=eq." + ALICE))) {
            assertThat(alice.await("ready").data()).contains("\"ok\":true", "\"tier\":\"A\"");
            Notes.insert(database, 1, BOB);
            Notes.insert(database, 2, ALICE);
            assertThat(Notes.idsUntil(alice, 2)).containsExactly(2);
        }
    }

    @ParameterizedTest
    @FieldSource("INJECTIONS")
    void a_filter_that_tries_to_be_sql_is_refused_and_its_value_is_not_repeated(String filter) {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), filtered(filter))) {
            String answer = alice.status() == 200 ? alice.await("ready").data() : alice.refusal();
            String value = filter.substring(filter.indexOf('.') + 1);
            assertThat(answer).doesNotContain("\"ok\":true");
            if (value.length() > 3) {
                assertThat(answer).doesNotContain(value);
            }
            assertThat(answer).contains(alice.status() == 200 ? "\"error\":{" : "\"error\":");
        }
        assertThat(database.value("SELECT to_regclass('public.notes') IS NOT NULL"))
                .isEqualTo("t");
    }

    private static String filtered(String filter) {
        return shape("mine", "notes", ",\"filter\":\"" + filter + "\"");
    }
}
