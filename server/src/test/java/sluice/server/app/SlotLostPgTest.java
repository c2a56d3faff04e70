package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Without its slot a server cannot know what it misses, so it must not go on as if nothing were.
class SlotLostPgTest {
    @Test
    void a_dropped_slot_ends_the_server_and_its_streams_are_told_to_come_back() throws Exception {
        Logger streams = (Logger) LoggerFactory.getLogger("sluice.http");
        Level before = streams.getLevel();
        streams.setLevel(Level.INFO);
        CapturedLog log = CapturedLog.of("sluice.http");
        try (PostgresDatabase database = Notes.database("slot_lost");
                RunningSluice sluice = RunningSluice.on(database);
                SseClient alice = Notes.open(sluice, ALICE)) {
            database.dropSlots();
            Notes.insert(database, 1, ALICE);

            assertThat(sluice.server().ended().get(20, TimeUnit.SECONDS))
                    .contains(Notes.slot(database))
                    .contains("dropped");
            assertThat(sluice.readyStatus()).isEqualTo(503);
            SseClient refused = sluice.stream(sluice.token(ALICE), shape("mine", "notes", ""));
            assertThat(refused.status()).isEqualTo(503);
            assertThat(database.value("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"))
                    .isEqualTo("0");

            sluice.server().close();

            assertThat(alice.await("error").data()).contains("\"server_shutdown\"", "\"retry_after_ms\":");
            assertThat(alice.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
            assertThat(Notes.ids(alice)).isEmpty();
            assertThat(log.lines("stream ended"))
                    .anyMatch(line -> line.contains("server_shutdown") && line.contains("replication_stopped"));
        } finally {
            streams.setLevel(before);
        }
    }
}
