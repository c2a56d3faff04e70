package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.postgres.PostgresServer;
import sluice.testkit.sse.SseClient;

/// Sessions that ended before a standby takes over stay ended, and the others go on to be watched.
class SessionFailoverPgTest {
    private static final String S1 = "11111111-0000-4000-8000-000000000001";
    private static final String S2 = "22222222-0000-4000-8000-000000000002";

    @Test
    void sessions_that_ended_before_a_failover_stay_ended_and_the_others_are_watched_on() throws Exception {
        try (PostgresCluster old = PostgresCluster.start(PostgresCluster.NEWEST, Map.of("autovacuum", "off"));
                PostgresDatabase database = Notes.database(old, "session_failover");
                TcpProxy replication = TcpProxy.to(old.port());
                TcpProxy pool = TcpProxy.to(old.port())) {
            SessionsPgTest.addSessions(database);
            database.execute(
                    "INSERT INTO auth.users VALUES ('" + ALICE + "')",
                    "INSERT INTO auth.sessions VALUES ('" + S1 + "', '" + ALICE + "'), ('" + S2 + "', '" + ALICE
                            + "')");
            Map<String, String> settings = new HashMap<>(RunningSluice.through(database, replication, pool));
            settings.putAll(SessionsPgTest.with());
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient one = SessionsPgTest.open(sluice, SessionsPgTest.token(sluice, ALICE, S1));
                    SseClient two = SessionsPgTest.open(sluice, SessionsPgTest.token(sluice, ALICE, S2))) {
                database.execute("DELETE FROM auth.sessions WHERE id = '" + S1 + "'");
                assertThat(one.await("error").data()).contains("session_revoked");
                old.stop(PostgresServer.Stop.FAST);
                try (PostgresCluster next = old.startStandby()) {
                    old.start();
                    database.reconnect();
                    PostgresDatabase promoted = next.database(database.name());
                    assertThat(promoted.value("SELECT pg_promote()")).isEqualTo("t");
                    Notes.insert(promoted, 2, ALICE);
                    for (TcpProxy proxy : new TcpProxy[] {replication, pool}) {
                        proxy.lead(next.port());
                        proxy.cut();
                    }

                    assertThat(Notes.idsUntil(two, 2)).containsExactly(2);
                    SessionsPgTest.assertRefused(sluice, SessionsPgTest.token(sluice, ALICE, S1), 401, "unauthorized");
                    promoted.execute("DELETE FROM auth.sessions WHERE id = '" + S2 + "'");
                    assertThat(two.await("error").data()).contains("session_revoked");
                    promoted.reconnect();
                }
            }
        }
    }
}
