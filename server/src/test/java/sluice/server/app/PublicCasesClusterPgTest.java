package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.postgres.PostgresServer;
import sluice.testkit.sse.SseClient;

/// Faults that systems of this kind have had and that need a PostgreSQL of their own: it hangs, or it stops.
class PublicCasesClusterPgTest {
    /// Nothing but the test announces a table again.
    private static final Map<String, String> QUIET = Map.of("autovacuum", "off");

    private static PostgresCluster cluster;

    @BeforeAll
    static void start() {
        cluster = PostgresCluster.start(PostgresCluster.NEWEST, QUIET);
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    /// The commit is in the log, and decoded, while no query sees it yet: it waits for a standby that is not there.
    @Test
    void b01_a_probed_row_of_a_commit_that_no_query_sees_yet_arrives_once_it_is_released() throws Exception {
        try (PostgresDatabase database = membersOf("unseen");
                RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_STAMP_WAIT", "60s"));
                SseClient alice = open(sluice, ALICE);
                SseClient bob = open(sluice, BOB)) {
            write(database, 1);
            assertThat(Notes.id(alice.await("change"))).isEqualTo(1);
            double probes = probes(sluice);
            CompletableFuture<Void> commit = CompletableFuture.completedFuture(null);
            try {
                waitForNobody(database);
                commit = hanging(database, 2);
                Await.until("the row was asked about", () -> probes(sluice) > probes);
                assertThat(database.value("SELECT count(*) FROM documents")).isEqualTo("1");
                assertThat(commit).isNotDone();
                assertThat(Notes.ids(alice)).containsExactly(1);
            } finally {
                waitForNobodyAnyMore(database);
                commit.join();
            }

            write(database, 3);
            assertThat(Notes.idsUntil(alice, 3)).containsExactly(1, 2, 3);
            assertThat(Notes.ids(bob)).isEmpty();
        }
    }

    /// A commit that announces its table needs a catalog that sees it, and none does: the line is
    /// not held for that.
    @Test
    void b01_a_table_announced_by_a_commit_that_no_query_sees_ends_its_shapes_and_the_others_go_on() throws Exception {
        try (PostgresDatabase database = membersOf("unread");
                RunningSluice sluice = RunningSluice.on(database);
                SseClient alice = open(sluice, ALICE);
                SseClient notes = Notes.open(sluice, ALICE)) {
            Notes.insert(database, 1, ALICE);
            assertThat(Notes.id(notes.await("change"))).isEqualTo(1);
            CompletableFuture<Void> commit = CompletableFuture.completedFuture(null);
            try {
                waitForNobody(database);
                commit = hanging(database, 2);
                Notes.insert(database, 3, ALICE);

                assertThat(alice.await("error").data()).contains("catalog_unavailable", "resnapshot");
                assertThat(Notes.idsUntil(notes, 3)).containsExactly(1, 3);
                assertThat(commit).isNotDone();
            } finally {
                waitForNobodyAnyMore(database);
                commit.join();
            }
            assertThat(Notes.ids(alice)).isEmpty();
            try (SseClient again = open(sluice, ALICE)) {
                write(database, 4);
                assertThat(Notes.idsUntil(again, 4)).containsExactly(4);
            }
        }
    }

    @Test
    void b38_postgresql_stops_fast_with_the_server_connected_and_nothing_is_missed_afterwards() throws Exception {
        try (PostgresDatabase database = Notes.database(cluster, "stopped");
                RunningSluice sluice = RunningSluice.on(database);
                SseClient alice = Notes.open(sluice, ALICE)) {
            database.execute("CREATE TABLE noise (t text)");
            Notes.insert(database, 1, ALICE);
            // its rights are known by then, which PostgreSQL could not be asked for while it stops
            assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            database.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 5000)");
            database.reconnect();

            cluster.stop(PostgresServer.Stop.FAST);
            cluster.start();
            Notes.insert(database, 2, ALICE);

            assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
        }
    }

    /// Documents that their members may read: a policy that PostgreSQL is asked about. What this connection commits
    /// waits for no standby.
    private static PostgresDatabase membersOf(String name) {
        PostgresDatabase database = Notes.database(cluster, name);
        database.execute(
                "CREATE TABLE members (doc int, user_id uuid, PRIMARY KEY (doc, user_id))",
                "CREATE TABLE documents (id int PRIMARY KEY)",
                "ALTER TABLE documents ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON documents FOR SELECT TO authenticated USING (EXISTS (SELECT 1 FROM members m"
                        + " WHERE m.doc = documents.id AND m.user_id = auth.uid()))",
                "ALTER PUBLICATION sluice ADD TABLE documents",
                "SET synchronous_commit = local");
        return database;
    }

    /// From here on commits of other connections hang once their WAL is written.
    private static void waitForNobody(PostgresDatabase database) {
        database.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()");
        Await.until("commits wait", () -> "nobody".equals(database.value("SHOW synchronous_standby_names")));
    }

    private static void waitForNobodyAnyMore(PostgresDatabase database) {
        database.execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
    }

    private static double probes(RunningSluice sluice) throws Exception {
        return sluice.metrics()
                .lines()
                .filter(line -> line.startsWith("sluice_authz_tier_c_probes_total{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static void write(PostgresDatabase database, int id) {
        database.execute("BEGIN; INSERT INTO members VALUES (" + id + ", '" + ALICE
                + "'); INSERT INTO documents VALUES (" + id + "); COMMIT");
    }

    /// A commit that waits for the standby. It is in the log when this returns.
    private static CompletableFuture<Void> hanging(PostgresDatabase database, int id) {
        CompletableFuture<Void> commit = CompletableFuture.runAsync(
                () -> {
                    try (Connection connection = database.connect();
                            Statement statement = connection.createStatement()) {
                        connection.setAutoCommit(false);
                        statement.execute("INSERT INTO members VALUES (" + id + ", '" + ALICE + "')");
                        statement.execute("INSERT INTO documents VALUES (" + id + ")");
                        connection.commit();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> Thread.ofVirtual().name("writer").start(task));
        Await.until(
                "the commit hangs",
                () -> !"0"
                        .equals(database.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                                + " AND datname = current_database()")));
        return commit;
    }

    private static SseClient open(RunningSluice sluice, String subject) {
        SseClient client = sluice.stream(sluice.token(subject), shape("s", "documents", ""));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }
}
