package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.postgres.PostgresServer;
import sluice.testkit.sse.SseClient;

/// A standby with the slot takes over, behind addresses that stay the same.
class FailoverPgTest {
    private static PostgresCluster primary() {
        return PostgresCluster.start(PostgresCluster.NEWEST, Map.of("autovacuum", "off"));
    }

    private static Map<String, String> settings(PostgresDatabase database, TcpProxy replication, TcpProxy pool) {
        Map<String, String> settings = new HashMap<>(RunningSluice.through(database, replication, pool));
        settings.put("SLUICE_CATALOG_REFRESH", "1h");
        return settings;
    }

    private static void promote(PostgresDatabase standby) {
        assertThat(standby.value("SELECT pg_promote()")).isEqualTo("t");
    }

    private static void lead(PostgresCluster to, TcpProxy... proxies) {
        for (TcpProxy proxy : proxies) {
            proxy.lead(to.port());
            proxy.cut();
        }
    }

    @Test
    void a_standby_that_has_every_commit_takes_over_and_streams_go_on_without_a_word() throws Exception {
        try (PostgresCluster old = primary();
                PostgresDatabase database = Notes.database(old, "complete");
                TcpProxy replication = TcpProxy.to(old.port());
                TcpProxy pool = TcpProxy.to(old.port());
                RunningSluice sluice = RunningSluice.on(database, settings(database, replication, pool));
                SseClient alice = Notes.open(sluice, ALICE)) {
            Notes.insert(database, 1, ALICE);
            assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            old.stop(PostgresServer.Stop.FAST);
            try (PostgresCluster next = old.startStandby()) {
                old.start();
                database.reconnect();
                PostgresDatabase promoted = next.database(database.name());
                promote(promoted);
                Notes.insert(promoted, 2, ALICE);

                lead(next, replication, pool);

                assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
                promoted.execute("DROP POLICY own ON notes", "INSERT INTO notes VALUES (3, '" + ALICE + "', 'x')");
                assertThat(alice.await("error").data()).contains("shape_not_authorized");
                assertThat(Notes.ids(alice)).containsExactly(1, 2);
                assertThat(sluice.server().isServing()).isTrue();
                promoted.reconnect();
            }
        }
    }

    @Test
    void a_standby_that_lacks_a_delivered_commit_takes_over_and_every_stream_must_read_its_rows_again()
            throws Exception {
        try (PostgresCluster old = primary();
                PostgresDatabase database = Notes.database(old, "behind")) {
            database.rows("SELECT pg_create_logical_replication_slot(?, 'pgoutput')", Notes.slot(database));
            old.stop(PostgresServer.Stop.FAST);
            try (PostgresCluster next = old.startStandby();
                    TcpProxy replication = TcpProxy.to(old.port());
                    TcpProxy pool = TcpProxy.to(old.port())) {
                old.start();
                database.reconnect();
                try (RunningSluice sluice = RunningSluice.on(database, settings(database, replication, pool))) {
                    assertEndsAndBeginsAnew(database, next.database(database.name()), sluice, () -> {
                        lead(next, replication, pool);
                    });
                }
            }
        }
    }

    private static void assertEndsAndBeginsAnew(
            PostgresDatabase lost, PostgresDatabase promoted, RunningSluice sluice, Runnable takeOver)
            throws Exception {
        try (SseClient alice = Notes.open(sluice, ALICE)) {
            // none of it on the standby, whose policy shows each user her own rows only
            lost.execute("CREATE POLICY everything ON notes FOR SELECT TO authenticated USING (true)");
            sluice.subscribeAgain(alice, sluice.token(ALICE), "mine", "notes");
            sluice.awaitPolls();
            Notes.insert(lost, 1, ALICE);
            assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            promote(promoted);

            takeOver.run();

            assertThat(alice.await("error").data()).contains("\"history_lost\"", "\"action\":\"resnapshot\"");
            assertThat(alice.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
        }
        Await.until("ready again", () -> sluice.readyStatus() == 200);
        try (SseClient again = reopened(sluice)) {
            Notes.insert(promoted, 1, RunningSluice.BOB);
            Notes.insert(promoted, 2, ALICE);
            assertThat(Notes.idsUntil(again, 2)).containsExactly(2);
        }
        assertThat(sluice.server().ended()).isNotDone();
        Await.until(
                "the slot of the new primary is confirmed",
                () -> "t"
                        .equals(promoted.value(
                                "SELECT confirmed_flush_lsn >= pg_current_wal_lsn() FROM pg_replication_slots WHERE"
                                        + " slot_name = ?",
                                Notes.slot(promoted))));
        promoted.reconnect();
    }

    /// Refused for as long as the rights of the new history are being read.
    private static SseClient reopened(RunningSluice sluice) {
        Await.until("streams open again", () -> {
            try (SseClient probe = sluice.stream(sluice.token(ALICE), RunningSluice.shape("mine", "notes", ""))) {
                return probe.status() == 200;
            }
        });
        return Notes.open(sluice, ALICE);
    }
}
