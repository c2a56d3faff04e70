package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.sse.SseClient;

/// A server whose changes arrive late says so to its clients and to its balancer.
class DelayPgTest {
    /// The line is held by a changed table whose catalog cannot be read.
    @Test
    void late_changes_are_told_to_every_stream_and_to_the_balancer_until_they_are_on_time_again() throws Exception {
        try (PostgresDatabase database = Notes.database("delay");
                TcpProxy replication = TcpProxy.to(database.cluster().port());
                TcpProxy pool = TcpProxy.to(database.cluster().port())) {
            Map<String, String> settings = new LinkedHashMap<>(RunningSluice.through(database, replication, pool));
            settings.put("SLUICE_RELOAD_TIMEOUT", "60s");
            settings.put("SLUICE_LAG_DEGRADED", "300ms");
            settings.put("SLUICE_READY_MAX_LAG", "400ms");
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                assertThat(alice.received().getFirst().data()).doesNotContain("lag_ms");
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
                assertThat(sluice.readyStatus()).isEqualTo(200);

                pool.stall(TcpProxy.Direction.TO_CLIENT);
                database.execute("ALTER TABLE notes ADD COLUMN more int");
                // older than the table's new catalog, so nobody may see it; what counts is that it waits
                Notes.insert(database, 2, ALICE);

                assertThat(lag(alice)).isGreaterThanOrEqualTo(300);
                Await.until("not ready", () -> sluice.readyStatus() == 503);
                try (SseClient ready = SseClient.get(sluice.uri("/readyz")).open()) {
                    assertThat(ready.refusal())
                            .contains("\"replicating\":true", "\"degraded\":\"reader_lag\"")
                            .doesNotContain("\"reader_lag_seconds\":0.0");
                }
                assertThat(sluice.figure("sluice_reader_lag_seconds")).isGreaterThan(0.3);
                try (SseClient bob = sluice.stream(sluice.token(BOB), "")) {
                    assertThat(bob.await("ready").json().get("lag_ms").asLong()).isGreaterThanOrEqualTo(300);

                    pool.pass();
                    assertThat(lag(alice)).isZero();
                    assertThat(lag(bob)).isZero();
                }
                Await.until("ready again", () -> sluice.readyStatus() == 200);
                Notes.insert(database, 3, ALICE);
                assertThat(Notes.idsUntil(alice, 3)).startsWith(1).endsWith(3);
                assertThat(alice.received()).noneMatch(event -> event.is("error"));
            }
        }
    }

    @Test
    void b39_a_database_that_is_not_heard_makes_changes_late_until_what_it_committed_has_come() throws Exception {
        try (PostgresDatabase database = Notes.database("unheard");
                TcpProxy replication = TcpProxy.to(database.cluster().port());
                TcpProxy pool = TcpProxy.to(database.cluster().port())) {
            Map<String, String> settings = new LinkedHashMap<>(RunningSluice.through(database, replication, pool));
            settings.put("SLUICE_LAG_DEGRADED", "300ms");
            try (RunningSluice sluice = RunningSluice.on(database, settings);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                replication.refuse();
                replication.cut();
                Notes.insert(database, 1, ALICE);

                assertThat(lag(alice)).isGreaterThanOrEqualTo(300);
                assertThat(sluice.figure("sluice_reader_lag_seconds")).isGreaterThanOrEqualTo(0.3);
                assertThat(Notes.ids(alice)).isEmpty();

                replication.pass();
                alice.await(
                        event -> event.is("delay") && event.json().get("lag_ms").asLong() == 0);
                Notes.insert(database, 2, ALICE);
                assertThat(Notes.idsUntil(alice, 2)).containsExactly(1, 2);
                assertThat(alice.received()).noneMatch(event -> event.is("error"));
            }
        }
    }

    private static long lag(SseClient client) {
        return client.await("delay").json().get("lag_ms").asLong();
    }
}
