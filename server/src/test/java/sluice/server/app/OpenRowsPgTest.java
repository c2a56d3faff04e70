package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// A policy decided in process meets a value that is not computed in process: a letter outside ASCII whose case
/// depends on the locale. PostgreSQL says what becomes of that one row.
class OpenRowsPgTest {
    @Test
    void postgresql_decides_the_rows_that_the_evaluator_leaves_open() throws Exception {
        try (PostgresDatabase database = database("open_rows");
                RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_TIER_B_VERIFY", "0"));
                SseClient stream =
                        sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("s", "notes", ""))) {
            assertThat(stream.await("ready").data()).contains("\"tier\":\"B\"");
            database.execute(
                    "INSERT INTO notes VALUES (1, 'Cafe'), (2, 'CAF\u00c9'), (3, 'TH\u00c9'), (4, 'cafe')",
                    "INSERT INTO notes VALUES (5, 'caf\u00e9')",
                    "INSERT INTO notes VALUES (6, 'tea'), (7, 'cafe')");

            assertThat(Notes.idsUntil(stream, 7)).containsExactly(1, 2, 4, 5, 7);
            assertThat(sluice.figure("sluice_authz_tier_c_probes_total{schema=\"public\",table=\"notes\"}"))
                    .isGreaterThanOrEqualTo(3);
            assertThat(stream.received()).noneMatch(event -> event.data().contains("changes_withheld"));
        }
    }

    @Test
    void they_are_withheld_and_told_where_queries_per_change_are_denied() throws Exception {
        try (PostgresDatabase database = database("open_rows_denied");
                RunningSluice sluice =
                        RunningSluice.on(database, Map.of("SLUICE_TIER_C", "deny", "SLUICE_TIER_B_VERIFY", "0"));
                SseClient stream =
                        sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("s", "notes", ""))) {
            assertThat(stream.await("ready").data()).contains("\"tier\":\"B\"");
            database.execute("INSERT INTO notes VALUES (1, 'cafe'), (2, 'CAF\u00c9'), (3, 'cafe')");

            assertThat(Notes.idsUntil(stream, 3)).containsExactly(1, 3);
            stream.await(event -> event.is("warning") && event.data().contains("changes_withheld"));
        }
    }

    private static PostgresDatabase database(String name) {
        PostgresDatabase database =
                PostgresCluster.of(PostgresCluster.NEWEST).createDatabase(name).withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY cafes ON notes FOR SELECT TO authenticated USING (title ILIKE 'caf_')",
                "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }
}
