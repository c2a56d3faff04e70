package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.http.JwksServer;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;

/// Transactions larger than all memory the process has.
class SmallHeapIT {
    private static final String HEAP = "-Xmx64m";

    /// 100 MB of values.
    private static final int ROWS = 100_000;

    private static final int SUBTRANSACTIONS = 20_000;

    @TempDir
    private Path scratch;

    private final TokenSigner signer = TokenSigner.es256("test");

    @Test
    void b44_a_transaction_larger_than_the_heap_and_one_of_many_subtransactions_arrive_whole_and_the_server_lives()
            throws Exception {
        try (PostgresDatabase database = Notes.database("small_heap");
                JwksServer jwks = JwksServer.publishing(signer)) {
            database.execute("CREATE TABLE others (id int PRIMARY KEY)", "ALTER PUBLICATION sluice ADD TABLE others");
            Map<String, String> settings = RunningSluice.environment(database, jwks, scratch.resolve("spill"));
            settings.put("JAVA_TOOL_OPTIONS", HEAP);
            settings.put("SLUICE_TRANSACTION_MEMORY", "4MiB");
            settings.put("SLUICE_STREAM_QUEUE", "20000");
            try (ServerProcess server = ServerProcess.start(scratch, settings);
                    SseClient alice = open(server, "notes");
                    SseClient others = open(server, "others")) {
                database.execute(
                        "BEGIN; INSERT INTO notes SELECT n, CASE WHEN n % " + ROWS / 10 + " = 17 THEN '" + ALICE
                                + "'::uuid ELSE 'cccccccc-0000-4000-8000-000000000003'::uuid END, repeat('x', 1000)"
                                + " FROM generate_series(1, " + ROWS + ") n; INSERT INTO others VALUES (1); COMMIT",
                        "DO $$ BEGIN FOR i IN 1.." + SUBTRANSACTIONS
                                + " LOOP BEGIN INSERT INTO others VALUES (1000 + i);"
                                + " IF i % 3 = 0 THEN RAISE EXCEPTION 'x'; END IF;"
                                + " EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$");
                database.execute("INSERT INTO others VALUES (100000)");

                List<Integer> committed = IntStream.rangeClosed(1, SUBTRANSACTIONS)
                        .filter(number -> number % 3 != 0)
                        .map(number -> 1000 + number)
                        .boxed()
                        .toList();
                List<Integer> received = Notes.idsUntil(others, 100_000);
                assertThat(received).startsWith(1).endsWith(100_000);
                assertThat(received.subList(1, received.size() - 1)).containsExactlyElementsOf(committed);
                int last = ROWS - ROWS / 10 + 17;
                assertThat(Notes.idsUntil(alice, last)).hasSize(10).isSorted();
                assertThat(server.log()).doesNotContain("OutOfMemory");
            }
        }
    }

    private SseClient open(ServerProcess server, String table) {
        SseClient client = SseClient.post(
                        server.uri("/sluice/v1/stream"), "{\"subscriptions\":[" + shape("s", table, "") + "]}")
                .bearer(signer.sign(Claims.of(ALICE)))
                .open();
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }
}
