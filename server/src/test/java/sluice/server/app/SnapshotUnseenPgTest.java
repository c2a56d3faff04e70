package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.server.app.ClientCopy.Strictness;
import sluice.server.app.ItemWriters.Kind;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Snapshots of a PostgreSQL whose synchronous standby never answers: commits are in the log, and sent to clients,
/// while no query sees them yet, and queries see commits in another order than the log has them.
class SnapshotUnseenPgTest {
    private static final String SNAPSHOT = ",\"initial\":\"snapshot\",\"transitions\":true";
    private static final int FENCE = 100_000;

    private static PostgresCluster cluster;

    @BeforeAll
    static void start() {
        cluster = PostgresCluster.start(PostgresCluster.NEWEST, Map.of("autovacuum", "off"));
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    private static PostgresDatabase database(String name) {
        PostgresDatabase database = cluster.createDatabase(name).withStandardRoles();
        ItemWriters.withTable(database, "items");
        database.execute(
                "ALTER TABLE items ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON items FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE PUBLICATION sluice FOR TABLE items",
                // what this session commits waits for nobody
                "SET synchronous_commit = local");
        return database;
    }

    /// Some writers wait for the standby, and are released one by one after a while, as by an
    /// operator; others do not
    /// wait at all.
    @Test
    void a_copy_is_exact_at_every_moment_while_commits_hang_and_are_let_go() throws Exception {
        List<SseClient> clients = new ArrayList<>();
        try (PostgresDatabase database = database("hanging");
                RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_RELOAD_TIMEOUT", "20s"));
                ItemWriters hanging = new ItemWriters(database, "items", Kind.ALL, List.of());
                ItemWriters others =
                        new ItemWriters(database, "items", Kind.ALL, List.of("SET synchronous_commit = local"))) {
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Void> releasing = CompletableFuture.completedFuture(null);
            try {
                waitForNobody(database);
                releasing = CompletableFuture.runAsync(
                        () -> release(database, over),
                        task -> Thread.ofVirtual().name("operator").start(task));
                hanging.start(4, 51);
                others.startAfter(4, 2, 52);
                for (int i = 0; i < 10; i++) {
                    hanging.awaitMore(3);
                    others.awaitMore(3);
                    clients.add(open(sluice));
                }
                hanging.awaitMore(8);
                hanging.stop();
                others.stop();
                over.set(true);
                releasing.join();
                Map<Integer, JsonNode> rows = ClientCopy.selected(database, "authenticated", ALICE, "items", "true");
                insert(database, FENCE);
                for (SseClient client : clients) {
                    ClientCopy copy = ClientCopy.fromSnapshot("s", Strictness.EXACT);
                    copy.until(client, FENCE, FENCE);
                    copy.rows().remove(FENCE);
                    assertThat(copy.rows()).isNotEmpty().isEqualTo(rows);
                }
            } finally {
                hanging.close();
                others.close();
                waitForNobodyAnyMore(database);
                over.set(true);
                hanging.stop();
                releasing.join();
                clients.forEach(SseClient::close);
            }
        }
    }

    /// The commit was sent to those who were there before anybody could query it; the snapshot
    /// does not show it, and
    /// it comes after the rows.
    @Test
    void a_commit_that_no_query_sees_comes_after_the_rows_of_a_snapshot_read_meanwhile() throws Exception {
        try (PostgresDatabase database = database("unseen");
                RunningSluice sluice = RunningSluice.on(database);
                SseClient before = open(sluice)) {
            insert(database, 1);
            CompletableFuture<Void> commit = CompletableFuture.completedFuture(null);
            try {
                waitForNobody(database);
                commit = CompletableFuture.runAsync(
                        () -> {
                            try (Connection own = database.connect();
                                    Statement statement = own.createStatement()) {
                                statement.execute(inserting(2));
                            } catch (SQLException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        task -> Thread.ofVirtual().name("writer").start(task));
                before.await(event -> event.is("change") && Notes.id(event) == 2);
                insert(database, 3);
                assertThat(ClientCopy.selected(database, "authenticated", ALICE, "items", "true"))
                        .containsOnlyKeys(1, 3);

                try (SseClient alice = open(sluice)) {
                    assertThat(alice.await("snapshot_end").json().get("rows").asInt())
                            .isEqualTo(2);
                    assertThat(Notes.ids(alice)).containsExactly(1, 3);
                    assertThat(Notes.id(alice.await("change"))).isEqualTo(2);
                    alice.await("live");
                }
                assertThat(commit).isNotDone();
            } finally {
                waitForNobodyAnyMore(database);
                commit.join();
            }
        }
    }

    private static void release(PostgresDatabase database, AtomicBoolean over) {
        try (Connection own = database.connect();
                Statement statement = own.createStatement()) {
            while (!over.get()) {
                statement.execute("SELECT pg_cancel_backend(pid), pg_sleep(0.02) FROM pg_stat_activity"
                        + " WHERE wait_event = 'SyncRep' AND state_change < clock_timestamp() - interval '0.1 s'"
                        + " AND datname = current_database() ORDER BY random() LIMIT 1");
                statement.execute("SELECT pg_sleep(0.01)");
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waitForNobody(PostgresDatabase database) {
        database.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()");
        Await.until("commits wait", () -> "nobody".equals(database.value("SHOW synchronous_standby_names")));
    }

    private static void waitForNobodyAnyMore(PostgresDatabase database) {
        database.execute("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
        Await.until("commits go on", () -> "".equals(database.value("SHOW synchronous_standby_names")));
    }

    private static void insert(PostgresDatabase database, int id) {
        database.execute(inserting(id));
    }

    private static String inserting(int id) {
        return "INSERT INTO items VALUES (" + id + ", '" + ALICE + "', 'x', " + id + ")";
    }

    private static SseClient open(RunningSluice sluice) {
        SseClient client = sluice.stream(sluice.token(ALICE), shape("s", "items", SNAPSHOT));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }
}
