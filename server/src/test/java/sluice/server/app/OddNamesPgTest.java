package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Names that a quote, a dot, a case or another script makes hard: of tables, columns, a publication, a role and the
/// database.
class OddNamesPgTest {
    private static final String ROLE = "data-reader \"x\"";

    /// 63 bytes.
    private static final String LONG = "ä".repeat(31) + "x";

    private record Named(String schema, String table, int row) {}

    private static final List<Named> TABLES = List.of(
            new Named("My.Schema", "We.Ird Täble \"q\"", 1),
            new Named("public", "B54", 2),
            new Named("public", "b54", 3),
            new Named("a", "b.c", 4),
            new Named("a.b", "c", 5),
            new Named("public", "user", 6),
            new Named("public", LONG, 7));

    @Test
    void b54_each_shape_gets_the_row_of_its_own_table_and_no_other() throws Exception {
        try (PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("odd-names")
                .withStandardRoles()) {
            database.execute("CREATE ROLE " + quoted(ROLE) + " NOLOGIN", "GRANT " + quoted(ROLE) + " TO sluice_authz");
            try {
                create(database);
                Map<String, String> settings = new LinkedHashMap<>();
                settings.put("SLUICE_PUBLICATION", "Pub One");
                settings.put("SLUICE_SLOT_NAME", "sluice_odd_names");
                settings.put("SLUICE_ALLOWED_ROLES", ROLE);
                try (RunningSluice sluice = RunningSluice.on(database, settings);
                        SseClient alice = sluice.stream(sluice.token(ALICE, ROLE), shapes());
                        SseClient bob = sluice.stream(sluice.token(BOB, ROLE), shapes())) {
                    assertThat(alice.await("ready").data()).doesNotContain("\"ok\":false");
                    assertThat(bob.await("ready").data()).doesNotContain("\"ok\":false");
                    for (Named named : TABLES) {
                        database.execute("INSERT INTO " + name(named) + " VALUES (" + named.row() + ", 'y', '" + ALICE
                                + "', 9)");
                    }
                    database.execute("INSERT INTO b54 VALUES (99, 'y', '" + BOB + "', 9)");

                    String first = "";
                    for (Named named : TABLES) {
                        SseEvent change = alice.await("change");
                        first = first.isEmpty()
                                ? change.json().get("commit_lsn").asText()
                                : first;
                        assertThat(change.json().get("sub").asText()).isEqualTo("s" + named.row());
                        assertThat(change.json().get("schema").asText()).isEqualTo(named.schema());
                        assertThat(change.json().get("table").asText()).isEqualTo(named.table());
                        assertThat(change.json().get("record").get("Id").asInt())
                                .isEqualTo(named.row());
                        assertThat(change.json().get("record").get("列").asInt()).isEqualTo(9);
                    }
                    assertThat(bob.await("change")
                                    .json()
                                    .get("record")
                                    .get("Id")
                                    .asInt())
                            .isEqualTo(99);
                    assertReadAndResumed(sluice, first);
                    assertThat(sluice.metrics()).contains("schema=\"My.Schema\",table=\"We.Ird Täble \\\"q\\\"\"");
                }
            } finally {
                database.dropSlots();
                database.execute("DROP OWNED BY " + quoted(ROLE), "DROP ROLE " + quoted(ROLE));
            }
        }
    }

    /// Two tables whose names read alike, `a.b.c`, share a position of the request's, so it counts for neither.
    private static void assertReadAndResumed(RunningSluice sluice, String position) {
        String token = sluice.token(ALICE, ROLE);
        try (SseClient alice =
                sluice.stream(token, shapes().replace("\"schema\"", "\"initial\":\"snapshot\",\"schema\""))) {
            TABLES.forEach(named -> alice.await("live"));
            assertThat(alice.received().stream()
                            .filter(event -> event.is("change"))
                            .map(OddNamesPgTest::labelAndRow))
                    .containsExactlyInAnyOrderElementsOf(TABLES.stream()
                            .map(named -> "s" + named.row() + " " + named.row())
                            .toList());
        }
        StringBuilder positions = new StringBuilder();
        for (Named named : TABLES) {
            String name = (named.schema() + "." + named.table()).replace("\"", "\\\"");
            if (positions.indexOf("\"" + name + "\"") < 0) {
                positions.append(positions.isEmpty() ? "" : ",").append("\"" + name + "\":\"" + position + "\"");
            }
        }
        String body = "{\"subscriptions\":[" + shapes() + "],\"resume\":{" + positions + "}}";
        try (SseClient alice = SseClient.post(sluice.uri("/sluice/v1/stream"), body)
                .bearer(token)
                .open()) {
            for (JsonNode result : alice.await("ready").json().get("subscriptions")) {
                boolean shared = List.of("s4", "s5").contains(result.get("sub").asText());
                assertThat(result.get("resumed").asBoolean())
                        .as(result.toString())
                        .isEqualTo(!shared);
            }
            for (int i = 0; i < TABLES.size() - 2; i++) {
                alice.await("live");
            }
            assertThat(alice.received().stream()
                            .filter(event -> event.is("change"))
                            .map(OddNamesPgTest::labelAndRow))
                    .containsExactlyInAnyOrder("s1 1", "s2 2", "s3 3", "s6 6", "s7 7");
        }
    }

    private static String labelAndRow(SseEvent change) {
        return change.json().get("sub").asText() + " "
                + change.json().at("/record/Id").asInt();
    }

    private static void create(PostgresDatabase database) {
        for (String schema : List.of("My.Schema", "a", "a.b")) {
            database.execute("CREATE SCHEMA " + quoted(schema));
        }
        StringBuilder published = new StringBuilder();
        for (Named named : TABLES) {
            database.execute(
                    "CREATE TABLE " + name(named)
                            + " (\"Id\" int PRIMARY KEY, \"Col.A\" text, \"select\" uuid, \"列\" int, \"a,b\" text)",
                    "ALTER TABLE " + name(named) + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY \"the \"\"own\"\".rows\" ON " + name(named) + " FOR SELECT TO " + quoted(ROLE)
                            + " USING (\"select\" = auth.uid())",
                    "GRANT USAGE ON SCHEMA " + quoted(named.schema()) + ", auth TO " + quoted(ROLE),
                    "GRANT SELECT ON " + name(named) + " TO " + quoted(ROLE));
            published.append(published.isEmpty() ? "" : ", ").append(name(named));
        }
        database.execute("CREATE PUBLICATION \"Pub One\" FOR TABLE " + published);
    }

    /// One shape of each table, filtered by a column whose name has a dot.
    private static String shapes() {
        StringBuilder shapes = new StringBuilder();
        for (Named named : TABLES) {
            shapes.append(shapes.isEmpty() ? "" : ",")
                    .append("{\"sub\":\"s")
                    .append(named.row())
                    .append("\",\"shape\":{\"schema\":\"")
                    .append(named.schema())
                    .append("\",\"table\":\"")
                    .append(named.table().replace("\"", "\\\""))
                    .append("\",\"filter\":\"\\\"Col.A\\\"=eq.y\"}}");
        }
        return shapes.toString();
    }

    private static String name(Named named) {
        return quoted(named.schema()) + "." + quoted(named.table());
    }

    private static String quoted(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }
}
