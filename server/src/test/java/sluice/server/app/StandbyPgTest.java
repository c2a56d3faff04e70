package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Two servers, one slot: one reads, the other waits for it to go.
class StandbyPgTest {
    @Test
    void the_second_server_refuses_streams_until_the_first_is_gone_and_then_serves() throws Exception {
        try (PostgresDatabase database = Notes.database("standby");
                RunningSluice first = RunningSluice.on(database);
                RunningSluice second = RunningSluice.starting(database, Map.of())) {
            Await.until(
                    "the second server asked for the lock",
                    () -> "1"
                            .equals(
                                    database.value(
                                            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                                                    + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")));
            SseClient refused = second.stream(second.token(ALICE), shape("mine", "notes", ""));
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.refusal()).contains("\"not_replicating\"");
            assertThat(second.readyStatus()).isEqualTo(503);
            assertThat(first.readyStatus()).isEqualTo(200);

            try (SseClient alice = Notes.open(first, ALICE)) {
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
            }
            first.close();
            second.awaitServing();

            assertThat(second.readyStatus()).isEqualTo(200);
            try (SseClient alice = Notes.open(second, ALICE)) {
                Notes.insert(database, 2, ALICE);
                assertThat(Notes.idsUntil(alice, 2)).containsExactly(2);
            }
        }
    }
}
