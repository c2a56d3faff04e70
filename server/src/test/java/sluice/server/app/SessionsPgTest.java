package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.http.Claims;
import sluice.testkit.sse.SseClient;

/// Sessions that end and users that are banned, from the row to the client.
class SessionsPgTest {
    private static final String S1 = "11111111-0000-4000-8000-00000000000a";
    private static final String S2 = "22222222-0000-4000-8000-00000000000b";
    private static final String S3 = "33333333-0000-4000-8000-00000000000c";
    private static final Map<String, String> ENABLED =
            Map.of("SLUICE_REVOCATION_ENABLED", "true", "SLUICE_REVOCATION_USERS_TABLE", "auth.users");

    private static final String REVOKED = "sluice_revocations_total{source=\"session\"}";

    private static PostgresDatabase database;
    private static TcpProxy pool;
    private static RunningSluice sluice;
    private static int lastId;

    @BeforeAll
    static void start() throws Exception {
        database = withSessions("sessions");
        pool = TcpProxy.to(database.cluster().port());
        Map<String, String> settings = with(
                "SLUICE_TRANSACTION_MEMORY", "64KiB", "SLUICE_STREAM_QUEUE", "1000", "SLUICE_CATALOG_REFRESH", "1h");
        settings.put("SLUICE_DB_AUTHZ_URL", RunningSluice.at(database.url("sluice_authz"), pool.port()));
        sluice = RunningSluice.on(database, settings);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        pool.close();
        database.close();
    }

    /// Sessions once ended stay so: each test has its own.
    private String one = S1;

    private String two = S2;

    @BeforeEach
    void sessionsOfItsOwn() {
        String test = String.format(Locale.ROOT, "%012x", ++lastId * 1_000_000L);
        one = S1.substring(0, 24) + test;
        two = S2.substring(0, 24) + test;
        database.execute(
                "INSERT INTO auth.users VALUES ('" + ALICE + "'), ('" + BOB + "') ON CONFLICT DO NOTHING",
                "INSERT INTO auth.sessions VALUES ('" + one + "', '" + ALICE + "'), ('" + two + "', '" + ALICE + "')");
    }

    static PostgresDatabase withSessions(String name) {
        PostgresDatabase made = Notes.database(name);
        addSessions(made);
        return made;
    }

    static void addSessions(PostgresDatabase made) {
        made.execute(
                "CREATE TABLE auth.users (id uuid PRIMARY KEY, banned_until timestamptz)",
                "CREATE TABLE auth.sessions (id uuid PRIMARY KEY,"
                        + " user_id uuid REFERENCES auth.users ON DELETE CASCADE)",
                "ALTER PUBLICATION sluice ADD TABLE auth.sessions, auth.users",
                "GRANT USAGE ON SCHEMA auth TO authenticated, sluice_authz",
                "GRANT SELECT ON auth.sessions TO authenticated",
                "GRANT SELECT (id) ON auth.sessions TO sluice_authz");
    }

    static Map<String, String> with(String... pairs) {
        Map<String, String> settings = new HashMap<>(ENABLED);
        for (int i = 0; i < pairs.length; i += 2) {
            settings.put(pairs[i], pairs[i + 1]);
        }
        return settings;
    }

    static String token(RunningSluice on, String subject, @Nullable String session) {
        Claims claims = Claims.of(subject).audience("authenticated");
        return on.sign(session == null ? claims : claims.session(session));
    }

    static SseClient open(RunningSluice on, String token) {
        SseClient client = on.stream(token, shape("mine", "notes", ""));
        assertThat(client.status()).as(client::refusal).isEqualTo(200);
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static SseClient open(String subject, @Nullable String session) {
        return open(sluice, token(sluice, subject, session));
    }

    static void assertRefused(RunningSluice on, String token, int status, String code) {
        try (SseClient refused = on.stream(token, shape("mine", "notes", ""))) {
            assertThat(refused.status()).isEqualTo(status);
            assertThat(refused.refusal()).contains("\"" + code + "\"");
        }
    }

    private static void assertEnds(SseClient client, String code) {
        assertThat(client.await("error").data()).contains("\"code\":\"" + code + "\"", "\"retryable\":false");
        assertThat(client.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
    }

    private static void inOneTransaction(String... statements) {
        database.execute("DO $do$ BEGIN " + String.join("; ", statements) + "; END $do$");
    }

    private static String note(int id) {
        return "INSERT INTO notes VALUES (" + id + ", '" + ALICE + "', 'x')";
    }

    private static double figure(String name) {
        try {
            return sluice.figure(name);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static int newNote() {
        lastId++;
        return lastId * 1000;
    }

    @Test
    void deleting_the_session_row_ends_its_streams_and_refuses_its_tokens_on_every_endpoint() throws Exception {
        String token = token(sluice, ALICE, one);
        double before = figure(REVOKED);
        try (SseClient first = open(sluice, token);
                SseClient second = open(ALICE, "{" + one.toUpperCase(Locale.ROOT) + "}");
                SseClient other = open(ALICE, two);
                SseClient none = open(ALICE, null)) {
            String otherStream =
                    other.received().getFirst().json().get("stream_id").asText();

            database.execute("DELETE FROM auth.sessions WHERE id = '" + one + "'");

            assertEnds(first, "session_revoked");
            assertEnds(second, "session_revoked");
            assertRefused(sluice, token, 401, "unauthorized");
            String names = "{\"stream_id\":\"" + otherStream + "\"";
            assertThat(sluice.post("/subscribe", token, names + ",\"subscriptions\":[]}")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(sluice.post("/unsubscribe", token, names + ",\"subs\":[\"mine\"]}")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(sluice.post("/token", "", names + ",\"access_token\":\"" + token + "\"}")
                            .statusCode())
                    .isEqualTo(401);
            int id = newNote();
            database.execute(note(id));
            assertThat(Notes.idsUntil(other, id)).contains(id);
            assertThat(Notes.idsUntil(none, id)).contains(id);
            assertThat(figure(REVOKED)).isEqualTo(before + 1);
        }
    }

    @Test
    void a_session_gets_everything_before_the_commit_that_ends_it_and_nothing_of_it_or_after() {
        int id = newNote();
        try (SseClient ended = open(ALICE, one);
                SseClient other = open(ALICE, two)) {
            database.execute(note(id));
            inOneTransaction(note(id + 1), "DELETE FROM auth.sessions WHERE id = '" + one + "'", note(id + 2));
            database.execute(note(id + 3));

            assertThat(Notes.idsUntil(other, id + 3)).containsExactly(id, id + 1, id + 2, id + 3);
            assertEnds(ended, "session_revoked");
            assertThat(Notes.ids(ended)).containsExactly(id);
        }
    }

    @Test
    void a_ban_at_the_end_of_a_commit_too_large_for_memory_drops_what_the_commit_gave_before() throws Exception {
        int id = newNote();
        double before = figure("sluice_spilled_transactions_total");
        String big = "INSERT INTO notes SELECT " + id + " + 10 + n, '" + BOB + "', repeat('x', 300)"
                + " FROM generate_series(1, 900) n";
        try (SseClient ended = open(ALICE, one);
                SseClient bob = open(BOB, null)) {
            inOneTransaction(
                    note(id),
                    big,
                    note(id + 1),
                    "UPDATE auth.users SET banned_until = 'infinity' WHERE id = '" + ALICE + "'");
            database.execute("INSERT INTO notes VALUES (" + (id + 999) + ", '" + BOB + "', 'x')");

            assertThat(Notes.idsUntil(bob, id + 999)).hasSize(901);
            assertEnds(ended, "user_banned");
            assertThat(Notes.ids(ended)).isEmpty();
            assertThat(figure("sluice_spilled_transactions_total")).isEqualTo(before + 1);
        } finally {
            lift();
        }
    }

    private static void lift() {
        database.execute("UPDATE auth.users SET banned_until = NULL WHERE banned_until IS NOT NULL");
        Await.until("the ban was lifted", Duration.ofSeconds(30), () -> {
            try (SseClient probe = sluice.stream(token(sluice, ALICE, null), shape("mine", "notes", ""))) {
                return probe.status() == 200;
            }
        });
    }

    @Test
    void a_ban_ends_every_stream_of_its_user_until_it_is_lifted_or_over() {
        try (SseClient first = open(ALICE, one);
                SseClient second = open(ALICE.toUpperCase(Locale.ROOT), null);
                SseClient bob = open(BOB, null)) {
            database.execute(
                    "UPDATE auth.users SET banned_until = now() - interval '1 s' WHERE id = '" + ALICE + "'",
                    "UPDATE auth.users SET banned_until = '-infinity' WHERE id = '" + ALICE + "'",
                    note(newNote()));
            first.await("change");

            database.execute("UPDATE auth.users SET banned_until = now() + interval '1 h' WHERE id = '" + ALICE + "'");

            assertEnds(first, "user_banned");
            assertEnds(second, "user_banned");
            assertRefused(sluice, token(sluice, ALICE, two), 401, "unauthorized");
            int id = newNote();
            database.execute("INSERT INTO notes VALUES (" + id + ", '" + BOB + "', 'x')");
            Notes.idsUntil(bob, id);
        } finally {
            lift();
        }
        double bans = figure("sluice_revocations_total{source=\"ban\"}");
        database.execute("UPDATE auth.users SET banned_until = now() + interval '5 s' WHERE id = '" + ALICE + "'");
        Await.until(
                "the ban has come",
                Duration.ofSeconds(30),
                () -> figure("sluice_revocations_total{source=\"ban\"}") > bans);
        Await.until("the ban is over", Duration.ofSeconds(30), () -> {
            try (SseClient probe = sluice.stream(token(sluice, ALICE, one), shape("mine", "notes", ""))) {
                return probe.status() == 200;
            }
        });
    }

    @Test
    void deleting_an_account_ends_the_sessions_that_go_with_it() {
        try (SseClient first = open(ALICE, one);
                SseClient second = open(ALICE, two)) {
            database.execute("DELETE FROM auth.users WHERE id = '" + ALICE + "'");

            assertEnds(first, "session_revoked");
            assertEnds(second, "session_revoked");
        }
    }

    @Test
    void a_session_that_ends_while_its_stream_is_being_opened_is_refused() throws Exception {
        double before = figure(REVOKED);
        // a value nobody asked about before: PostgreSQL has to say what it is
        String filtered = shape("mine", "notes", ",\"filter\":\"id=eq." + newNote() + "\"");
        pool.stall(TcpProxy.Direction.TO_CLIENT);
        var opening = CompletableFuture.supplyAsync(
                () -> sluice.stream(token(sluice, ALICE, one), filtered),
                command -> Thread.ofVirtual().start(command));
        try {
            Await.until("the stream is being opened", Duration.ofSeconds(30), () -> figure("sluice_streams") > 0);
            database.execute("DELETE FROM auth.sessions WHERE id = '" + one + "'");
            Await.until("the session ended", Duration.ofSeconds(30), () -> figure(REVOKED) > before);
        } finally {
            pool.pass();
        }
        try (SseClient refused = opening.get(60, TimeUnit.SECONDS)) {
            assertThat(refused.status()).isEqualTo(401);
            assertThat(refused.header("WWW-Authenticate")).isEqualTo("Bearer");
        }
    }

    @Test
    void the_tables_of_sessions_and_users_cannot_be_subscribed_to() {
        try (SseClient alice = sluice.stream(
                token(sluice, ALICE, one),
                "{\"sub\":\"s\",\"shape\":{\"schema\":\"auth\",\"table\":\"sessions\"}},"
                        + "{\"sub\":\"u\",\"shape\":{\"schema\":\"auth\",\"table\":\"users\",\"filter\":\"nonsense\"}}")) {
            assertThat(alice.await("ready").data())
                    .contains("session revocation")
                    .containsPattern("\"sub\":\"s\",\"ok\":false[^}]*shape_not_authorized")
                    .containsPattern("\"sub\":\"u\",\"ok\":false[^}]*shape_not_authorized");
        }
    }

    @Test
    void a_new_token_moves_a_stream_to_its_own_session() throws Exception {
        try (SseClient alice = open(ALICE, one)) {
            String stream = alice.received().getFirst().json().get("stream_id").asText();
            assertThat(sluice.post(
                                    "/token",
                                    "",
                                    "{\"stream_id\":\"" + stream + "\",\"access_token\":\"" + token(sluice, ALICE, two)
                                            + "\"}")
                            .statusCode())
                    .isEqualTo(200);

            database.execute("DELETE FROM auth.sessions WHERE id = '" + one + "'");
            int id = newNote();
            database.execute(note(id));
            Notes.idsUntil(alice, id);

            database.execute("DELETE FROM auth.sessions WHERE id = '" + two + "'");
            assertEnds(alice, "session_revoked");
        }
    }

    @Test
    void a_server_whose_tables_are_not_published_does_not_start_and_says_what_to_run() throws Exception {
        try (PostgresDatabase unpublished = Notes.database("sessions_unpublished")) {
            unpublished.execute("CREATE TABLE auth.sessions (id uuid PRIMARY KEY)");
            assertThatThrownBy(() -> RunningSluice.starting(unpublished, Map.of("SLUICE_REVOCATION_ENABLED", "true")))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("ALTER PUBLICATION \"sluice\" ADD TABLE \"auth\".\"sessions\";");
        }
    }

    @Test
    void truncating_the_sessions_ends_them_all_and_a_token_issued_later_is_good() throws Exception {
        try (PostgresDatabase own = withSessions("sessions_truncated");
                RunningSluice server = RunningSluice.on(own, ENABLED);
                SseClient alice = open(server, token(server, ALICE, S1));
                SseClient none = open(server, token(server, BOB, null))) {
            own.execute("TRUNCATE auth.sessions", "INSERT INTO notes VALUES (1, '" + BOB + "', 'x')");

            assertEnds(alice, "session_revoked");
            Notes.idsUntil(none, 1);
            assertRefused(server, token(server, ALICE, S3), 401, "unauthorized");
            String later = server.sign(Claims.of(ALICE)
                    .audience("authenticated")
                    .session(S3)
                    .with("iat", Instant.now().plusSeconds(120).getEpochSecond()));
            open(server, later).close();
        }
    }

    @Test
    void when_the_sessions_leave_the_publication_nobody_goes_on_unwatched() throws Exception {
        try (PostgresDatabase own = withSessions("sessions_unseen");
                RunningSluice server =
                        RunningSluice.on(own, with("SLUICE_RIGHTS_POLL", "100ms", "SLUICE_CATALOG_REFRESH", "1s"));
                SseClient alice = open(server, token(server, ALICE, S1))) {
            own.execute("ALTER PUBLICATION sluice DROP TABLE auth.sessions");

            assertThat(alice.await("error").data()).contains("\"session_check_unavailable\"", "\"retryable\":true");
            assertRefused(server, token(server, ALICE, S2), 503, "session_check_unavailable");
            assertThat(server.post("/admin/jwks/refresh", server.token(BOB, "service_role"), "")
                            .body())
                    .contains("\"session_check_unavailable\"");
            String unseen = "sluice_config_warnings{code=\"revocations_unseen\"} 1.0";
            Await.until(
                    "the metrics say so",
                    Duration.ofSeconds(60),
                    () -> server.metrics().contains(unseen));

            own.execute("ALTER PUBLICATION sluice ADD TABLE auth.sessions");
            Await.until(
                    "the metrics say so no longer",
                    Duration.ofSeconds(60),
                    () -> !server.metrics().contains(unseen));

            String bob = token(server, BOB, null);
            own.execute("INSERT INTO auth.users VALUES ('" + BOB + "')");
            try (SseClient banned = open(server, bob)) {
                own.execute(
                        "ALTER PUBLICATION sluice DROP TABLE auth.users",
                        "UPDATE auth.users SET banned_until = 'infinity'",
                        "ALTER PUBLICATION sluice ADD TABLE auth.users");
                assertThat(banned.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
            }
            Await.until("the token is refused", Duration.ofSeconds(60), () -> {
                try (SseClient refused = server.stream(bob, shape("mine", "notes", ""))) {
                    return refused.status() != 503;
                }
            });
            assertRefused(server, bob, 401, "unauthorized");
        }
    }
}
