package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// `/diagnostics` of a running server.
class DiagnosticsPgTest {
    private static final String MARK = "mark-of-a-row-value";

    private static HttpResponse<String> ask(RunningSluice sluice, String role)
            throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(sluice.uri("/sluice/v1/diagnostics"))
                            .header("Authorization", "Bearer " + sluice.token(RunningSluice.ALICE, role))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private static JsonNode report(RunningSluice sluice) throws IOException, InterruptedException {
        HttpResponse<String> answer = ask(sluice, "service_role");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).doesNotContain(MARK, RunningSluice.ALICE, "pa:ss", "eyJ");
        return new ObjectMapper().readTree(answer.body());
    }

    private static List<String> codes(JsonNode report) {
        List<String> codes = new ArrayList<>();
        for (JsonNode warning : report.get("warnings")) {
            codes.add(warning.get("code").asText());
            for (String member : List.of("severity", "reason", "impact", "remedy")) {
                assertThat(warning.get(member).asText()).isNotEmpty();
            }
        }
        return codes;
    }

    @Test
    void what_is_open_and_what_is_wrong_is_told_as_it_is_now() throws Exception {
        try (PostgresDatabase database = Notes.database("diagnostics")) {
            database.execute("INSERT INTO notes VALUES (1, '" + RunningSluice.ALICE + "', '" + MARK + "')");
            database.execute("CREATE TABLE team (id int PRIMARY KEY, member uuid)");
            try (RunningSluice sluice = RunningSluice.on(database)) {
                JsonNode quiet = report(sluice);
                assertThat(quiet.fieldNames())
                        .toIterable()
                        .containsExactly(
                                "oracle", "slot", "subscriptions", "publication", "replication_options", "warnings");
                assertThat(quiet.get("oracle").asText()).isEqualTo("rls");
                assertThat(quiet.get("slot").get("name").asText()).isEqualTo(Notes.slot(database));
                assertThat(quiet.get("slot").get("confirmed_lsn").asText()).isNotEqualTo("0/0");
                assertThat(quiet.get("slot").get("wal_status").asText()).isEqualTo("reserved");
                assertThat(quiet.get("publication").get("tables").asInt()).isEqualTo(1);
                assertThat(quiet.get("replication_options").get("proto_version").asInt())
                        .isEqualTo(4);
                assertThat(quiet.get("subscriptions").get("total").asInt()).isZero();
                assertThat(codes(quiet))
                        .contains("unindexed_policy_column", "unbounded_wal_retention", "role_not_assumable")
                        .doesNotContain(
                                "tier_c_policy", "tier_c_subscriptions", "unindexed_shape", "unbounded_streams");

                try (SseClient stream = Notes.open(sluice, RunningSluice.ALICE)) {
                    assertThat(stream.received()).isNotEmpty();
                    Await.until("the open shape is told of", Duration.ofSeconds(30), () -> {
                        JsonNode report = report(sluice);
                        return report.get("subscriptions").get("streams").asInt() == 1
                                && report.get("subscriptions").get("unindexed").asInt() == 1
                                && report.get("subscriptions")
                                                .get("by_tier")
                                                .get("B")
                                                .asInt()
                                        == 1
                                && codes(report).contains("unindexed_shape");
                    });
                    database.execute(
                            "GRANT SELECT ON team TO authenticated",
                            "CREATE POLICY by_team ON notes FOR SELECT TO authenticated"
                                    + " USING (owner_id IN (SELECT member FROM team))");
                    Notes.insert(database, 2, RunningSluice.ALICE);
                    sluice.subscribeAgain(stream, sluice.token(RunningSluice.ALICE), "mine", "notes");
                    Await.until("the slow policy is told of", Duration.ofSeconds(60), () -> {
                        List<String> codes = codes(report(sluice));
                        return codes.contains("tier_c_policy") && codes.contains("tier_c_subscriptions");
                    });
                }
                Await.until(
                        "nothing is open",
                        Duration.ofSeconds(30),
                        () -> report(sluice).get("subscriptions").get("total").asInt() == 0);
            }
        }
    }

    @Test
    void users_may_not_ask_and_it_can_be_switched_off_and_streams_without_a_bound_are_told_of() throws Exception {
        try (PostgresDatabase database = Notes.database("diagnostics_off");
                RunningSluice sluice =
                        RunningSluice.starting(database, Map.of("SLUICE_DIAGNOSTICS_ENABLED", "false"))) {
            assertThat(ask(sluice, "service_role").statusCode()).isEqualTo(404);
        }
        try (PostgresDatabase database = Notes.database("diagnostics_on");
                RunningSluice sluice = RunningSluice.starting(
                        database, Map.of("SLUICE_MAX_STREAMS", "0", "SLUICE_ADMIT_MEMORY", "0"))) {
            assertThat(ask(sluice, "authenticated").statusCode()).isEqualTo(403);
            assertThat(codes(report(sluice))).contains("unbounded_streams");
        }
    }
}
