package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.sql.Connection;
import java.sql.Statement;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// A slot cannot be made while a transaction is open that began before. Until it is made, changes would be missed.
class BeforeReplicationPgTest {
    @Test
    void streams_are_refused_until_the_slot_is_there_and_then_miss_nothing() throws Exception {
        try (PostgresDatabase database = Notes.database("before_replication");
                Connection other = database.connect();
                Statement open = other.createStatement()) {
            other.setAutoCommit(false);
            open.execute("SELECT pg_current_xact_id()");
            try (RunningSluice sluice = RunningSluice.starting(database, Map.of())) {
                Await.until(
                        "the slot's creation waits",
                        () -> "1"
                                .equals(database.value("SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                        + " current_database() AND wait_event_type = 'Lock'"
                                        + " AND query LIKE 'CREATE_REPLICATION_SLOT%'")));

                SseClient refused = sluice.stream(sluice.token(ALICE), shape("mine", "notes", ""));
                assertThat(refused.status()).isEqualTo(503);
                assertThat(refused.refusal()).contains("\"not_replicating\"");
                assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
                assertThat(sluice.readyStatus()).isEqualTo(503);

                other.rollback();
                sluice.awaitServing();

                assertThat(sluice.readyStatus()).isEqualTo(200);
                try (SseClient alice = Notes.open(sluice, ALICE)) {
                    for (int id = 1; id <= 20; id++) {
                        Notes.insert(database, id, ALICE);
                    }
                    assertThat(Notes.idsUntil(alice, 20))
                            .containsExactlyElementsOf(
                                    IntStream.rangeClosed(1, 20).boxed().toList());
                }
            }
        }
    }
}
