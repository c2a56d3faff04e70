package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.at;

import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;

/// A load balancer must not send anybody to a server that hears nothing of the database, and may again once it does.
class ReadinessPgTest {
    @Test
    void readyz_is_503_while_the_server_reconnects_or_is_silent_and_200_afterwards_and_streams_stay_open()
            throws Exception {
        try (PostgresDatabase database = Notes.database("ready");
                TcpProxy proxy = TcpProxy.to(database.cluster().port());
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_DB_REPL_URL",
                                at(database.url("sluice_repl"), proxy.port()) + "?replication=database"));
                SseClient alice = Notes.open(sluice, ALICE)) {
            assertThat(sluice.readyStatus()).isEqualTo(200);

            proxy.refuse();
            proxy.cut();
            Notes.insert(database, 1, ALICE);
            Await.until("not ready while it reconnects", () -> sluice.readyStatus() == 503);
            proxy.pass();
            Await.until("ready again", () -> sluice.readyStatus() == 200);
            assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);

            proxy.stall(TcpProxy.Direction.TO_CLIENT);
            Notes.insert(database, 2, ALICE);
            Await.until("not ready while nothing comes", () -> sluice.readyStatus() == 503);
            proxy.pass();
            Await.until("ready again", () -> sluice.readyStatus() == 200);
            assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
            assertThat(sluice.figure("sluice_reader_reconnects_total")).isEqualTo(1);
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }
}
