package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Everybody loses the stream at once and comes back at once, as after a gateway's restart.
class ReconnectsIT {
    private static final int CLIENTS = 1_000;
    private static final int MISSED = 20;

    private record Client(SseClient stream, String resume) {}

    @Test
    void a_thousand_clients_that_come_back_at_once_all_resume_and_miss_nothing() throws Exception {
        try (PostgresDatabase database = Notes.database("thousand");
                RunningSluice sluice = RunningSluice.on(
                        database, Map.of("SLUICE_RING_MAX_AGE", "10m", "SLUICE_UNINDEXED_SHAPES_MAX", "2000"));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            String token = sluice.token(ALICE);
            List<SseClient> streams = all(threads, _ -> {
                SseClient stream = sluice.stream(token, "{\"sub\":\"s\",\"shape\":{\"table\":\"notes\"}}");
                assertThat(stream.await("ready").data()).contains("\"ok\":true");
                return stream;
            });
            Notes.insert(database, 1, ALICE);
            List<Client> clients = all(threads, i -> {
                SseClient stream = streams.get(i);
                String lsn = stream.await("change").json().get("commit_lsn").asText();
                String history = stream.received()
                        .getFirst()
                        .json()
                        .at("/subscriptions/0/history")
                        .asText();
                return new Client(stream, "{\"lsn\":\"" + lsn + "\",\"history\":\"" + history + "\"}");
            });
            clients.forEach(client -> client.stream().abort());
            for (int id = 2; id <= MISSED; id++) {
                Notes.insert(database, id, id % 5 == 0 ? BOB : ALICE);
            }

            List<Integer> hers = IntStream.rangeClosed(1, MISSED + 1)
                    .filter(id -> id == 1 || id % 5 != 0)
                    .boxed()
                    .toList();
            List<SseClient> resumed = all(threads, i -> {
                SseClient stream = sluice.stream(
                        token,
                        "{\"sub\":\"s\",\"shape\":{\"table\":\"notes\"},\"resume\":"
                                + clients.get(i).resume() + "}");
                assertThat(stream.await("ready").data()).contains("\"resumed\":true");
                stream.await("live");
                return stream;
            });
            Notes.insert(database, MISSED + 1, ALICE);
            all(threads, i -> {
                SseClient stream = resumed.get(i);
                assertThat(Notes.idsUntil(stream, MISSED + 1)).isEqualTo(hers);
                stream.close();
                return stream;
            });
            Await.until("every stream is gone", () -> sluice.figure("sluice_streams") == 0);
        }
    }

    private static <T> List<T> all(ExecutorService threads, IntFunction<T> each) throws InterruptedException {
        List<Future<T>> running = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int client = i;
            running.add(threads.submit(() -> each.apply(client)));
        }
        List<T> done = new ArrayList<>();
        for (Future<T> one : running) {
            try {
                done.add(one.get());
            } catch (ExecutionException e) {
                throw new AssertionError(e.getCause());
            }
        }
        return done;
    }
}
