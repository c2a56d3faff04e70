package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// A name is no table: what was decided for one must not serve another that took its name. The tick is an hour away.
class TableMadeAnewPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("made_anew")
                .withStandardRoles();
        for (String table : new String[] {"dropped", "swapped", "spare"}) {
            database.execute("CREATE TABLE " + table + " (id int PRIMARY KEY, note text)");
        }
        // everybody may read the first of each; its successor belongs to its owner
        database.execute(
                "ALTER TABLE spare ADD COLUMN owner_id uuid",
                "ALTER TABLE spare ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON spare FOR SELECT TO authenticated USING (owner_id = auth.uid())",
                "CREATE PUBLICATION sluice FOR ALL TABLES");
        sluice = RunningSluice.on(database, Map.of("SLUICE_CATALOG_REFRESH", "1h"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    private static SseClient open(String table) {
        SseClient client = sluice.stream(sluice.token(ALICE), shape("it", table, ""));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static void assertEndsWithoutForeignRows(SseClient alice) {
        SseEvent error = alice.await("error");
        assertThat(error.data()).containsAnyOf("\"schema_changed\"", "\"relation_unpublished\"");
        assertThat(error.data()).contains("\"sub\":\"it\"");
        assertThat(alice.received()).noneMatch(event -> event.data().contains("not for alice"));
    }

    @Test
    void b21_a_table_dropped_and_made_anew_ends_the_shape_and_none_of_its_rows_is_sent() {
        try (SseClient alice = open("dropped")) {
            database.execute("INSERT INTO dropped VALUES (1, 'for all')");
            assertThat(alice.await("change").data()).contains("for all");
            database.execute("""
                    BEGIN;
                    DROP TABLE dropped;
                    CREATE TABLE dropped (id int PRIMARY KEY, note text, owner_id uuid);
                    ALTER TABLE dropped ENABLE ROW LEVEL SECURITY;
                    CREATE POLICY own ON dropped FOR SELECT TO authenticated USING (owner_id = auth.uid());
                    INSERT INTO dropped VALUES (2, 'not for alice', '%s');
                    COMMIT""".formatted(BOB));
            assertEndsWithoutForeignRows(alice);
            try (SseClient again = open("dropped")) {
                database.execute(
                        "INSERT INTO dropped VALUES (3, 'not for alice', '" + BOB + "')",
                        "INSERT INTO dropped VALUES (4, 'hers', '" + ALICE + "')");
                assertThat(again.await("change").data()).contains("\"hers\"");
            }
        }
    }

    @Test
    void b21_two_tables_that_swap_their_names_end_the_shape_and_none_of_the_others_rows_is_sent() {
        try (SseClient alice = open("swapped")) {
            database.execute("INSERT INTO swapped VALUES (1, 'for all')");
            assertThat(alice.await("change").data()).contains("for all");
            database.execute("""
                    BEGIN;
                    ALTER TABLE swapped RENAME TO passing;
                    ALTER TABLE spare RENAME TO swapped;
                    ALTER TABLE passing RENAME TO spare;
                    INSERT INTO swapped VALUES (2, 'not for alice', '%s');
                    INSERT INTO spare VALUES (2, 'still for all');
                    COMMIT""".formatted(BOB));
            assertEndsWithoutForeignRows(alice);
            try (SseClient again = open("swapped")) {
                database.execute(
                        "INSERT INTO swapped VALUES (3, 'not for alice', '" + BOB + "')",
                        "INSERT INTO swapped VALUES (4, 'hers', '" + ALICE + "')");
                assertThat(again.await("change").data()).contains("\"hers\"");
            }
        }
    }
}
