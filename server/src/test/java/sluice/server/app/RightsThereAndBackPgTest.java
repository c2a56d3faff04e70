package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;

/// A right that is taken away and given back while the log is late: each reading of the catalog finds it in place.
///
/// Rights are not polled meanwhile, so nothing is known but what the readings before and after say.
class RightsThereAndBackPgTest {
    private static final List<String> TABLES =
            List.of("altered", "dropped", "granted", "trimmed", "guarded", "itself", "moved", "emptied");

    private static PostgresDatabase database;
    private static TcpProxy replication;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("there_and_back")
                .withStandardRoles();
        for (String table : TABLES) {
            database.execute(
                    "CREATE TABLE " + table + " (id int PRIMARY KEY, owner_id uuid, secret text)",
                    "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON " + table + " FOR SELECT TO authenticated USING (owner_id = auth.uid())");
        }
        database.execute(
                "ALTER TABLE guarded DISABLE ROW LEVEL SECURITY",
                "REVOKE SELECT ON trimmed FROM authenticated",
                "GRANT SELECT (id, owner_id, secret) ON trimmed TO authenticated",
                "CREATE PUBLICATION sluice FOR TABLE " + String.join(", ", TABLES));
        replication = TcpProxy.to(database.cluster().port());
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(
                "SLUICE_DB_REPL_URL",
                RunningSluice.at(database.url("sluice_repl"), replication.port()) + "?replication=database");
        settings.put("SLUICE_CATALOG_REFRESH", "1h");
        settings.put("SLUICE_RIGHTS_POLL", "1h");
        sluice = RunningSluice.on(database, settings);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        replication.close();
        database.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "altered | ALTER POLICY own ON altered USING (false)"
                        + " | ALTER POLICY own ON altered USING (owner_id = auth.uid())",
                "dropped | DROP POLICY own ON dropped"
                        + " | CREATE POLICY own ON dropped FOR SELECT TO authenticated USING (owner_id = auth.uid())",
                "granted | REVOKE SELECT ON granted FROM authenticated | GRANT SELECT ON granted TO authenticated",
                "trimmed | REVOKE SELECT (secret) ON trimmed FROM authenticated"
                        + " | GRANT SELECT (secret) ON trimmed TO authenticated",
                "guarded | ALTER TABLE guarded ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
                        + " | ALTER TABLE guarded DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY"
            })
    void b24_a_row_written_while_a_right_was_away_is_withheld_and_told(String table, String away, String back) {
        try (SseClient alice = open(table)) {
            insert(table, 1, ALICE);
            assertThat(Notes.id(alice.await("change"))).isEqualTo(1);

            replication.stall(TcpProxy.Direction.TO_CLIENT);
            database.execute(away);
            insert(table, 2, table.equals("guarded") ? BOB : ALICE);
            database.execute(back);
            replication.pass();

            assertThat(alice.await("warning").data()).contains("changes_withheld");
            insert(table, 3, ALICE);
            assertThat(Notes.idsUntil(alice, 3)).containsExactly(1, 3);
        }
    }

    @Test
    void a_row_of_the_transaction_that_wrote_the_policy_anew_is_sent() {
        try (SseClient alice = open("itself")) {
            insert("itself", 1, ALICE);
            alice.await("change");

            database.execute("BEGIN; ALTER POLICY own ON itself USING (owner_id = auth.uid());"
                    + " INSERT INTO itself VALUES (200, '" + BOB + "', 'x'), (2, '" + ALICE + "', 'x'); COMMIT");

            assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }

    @Test
    void a_row_of_the_transaction_that_moved_the_policy_comes_with_the_rows_read_again() throws Exception {
        try (SseClient alice = open("moved")) {
            insert("moved", 1, ALICE);
            alice.await("change");

            database.execute("BEGIN; ALTER POLICY own ON moved USING (owner_id = auth.uid() AND id < 100);"
                    + " INSERT INTO moved VALUES (200, '" + ALICE + "', 'x'), (2, '" + ALICE + "', 'x'); COMMIT");

            sluice.subscribeAgain(alice, sluice.token(ALICE), "s", "moved");
            assertThat(Notes.ids(alice)).containsExactly(1, 1, 2);
        }
    }

    @Test
    void a_row_written_right_after_truncate_is_sent() {
        try (SseClient alice = open("emptied")) {
            insert("emptied", 1, ALICE);
            alice.await("change");

            database.execute("TRUNCATE emptied");
            insert("emptied", 2, ALICE);

            assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
        }
    }

    private static SseClient open(String table) {
        SseClient client = sluice.stream(sluice.token(ALICE), shape("s", table, ""));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static void insert(String table, int id, String owner) {
        database.execute("INSERT INTO " + table + " VALUES (" + id + ", '" + owner + "', 'x')");
    }
}
