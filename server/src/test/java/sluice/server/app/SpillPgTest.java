package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.shape;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// One transaction that memory cannot hold: with every image kept, and with nowhere to put it.
class SpillPgTest {
    private static final String BIG = "INSERT INTO notes SELECT n, 'cccccccc-0000-4000-8000-000000000003',"
            + " repeat('x', 200) FROM generate_series(100, 3000) n";

    @Test
    void a_spilled_commit_gives_every_image_to_a_role_that_bypasses_and_the_net_image_to_others() throws Exception {
        try (PostgresDatabase database = Notes.database("spilled_images");
                RunningSluice sluice = RunningSluice.on(
                        database, Map.of("SLUICE_TRANSACTION_MEMORY", "64KiB", "SLUICE_TRANSACTION_IMAGES", "all"));
                SseClient alice = Notes.open(sluice, ALICE);
                SseClient service = sluice.stream(sluice.token(ALICE, "service_role"), shape("all", "notes", ""))) {
            assertThat(service.await("ready").data()).contains("\"ok\":true");

            inOneTransaction(
                    database,
                    "INSERT INTO notes VALUES (1, '" + ALICE + "', 'first')",
                    BIG,
                    "UPDATE notes SET title = 'second' WHERE id = 1",
                    "UPDATE notes SET title = 'third' WHERE id = 1");
            Notes.insert(database, 2, ALICE);
            database.execute("UPDATE notes SET title = 'end' WHERE id = 1");

            service.await(event -> event.is("change") && title(event).equals("end"));
            alice.await(event -> event.is("change") && title(event).equals("end"));
            assertThat(changes(service))
                    .filteredOn(change -> change.contains(" 1 "))
                    .containsExactly("INSERT 1 first", "UPDATE 1 second", "UPDATE 1 third", "UPDATE 1 end");
            assertThat(changes(alice)).containsExactly("INSERT 1 third", "INSERT 2 x", "UPDATE 1 end");
            assertThat(sluice.metrics()).contains("sluice_spilled_transactions_total 1");
        }
    }

    @Test
    void a_commit_that_the_spill_folder_may_not_hold_ends_the_server_and_is_met_again() throws Exception {
        assertEnds("spill_bound", Map.of("SLUICE_SPILL_MAX_BYTES", "64KiB"), folder -> {}, "SLUICE_SPILL_MAX_BYTES");
    }

    @Test
    void a_spill_folder_that_cannot_be_written_ends_the_server_and_the_commit_is_met_again() throws Exception {
        assertEnds(
                "spill_unwritable",
                Map.of(),
                folder -> {
                    // not even root can write into a file as if it were a folder
                    Files.deleteIfExists(folder.resolve("slot-mark"));
                    Files.delete(folder);
                    Files.writeString(folder, "in the way");
                },
                "SLUICE_SPILL_DIR");
    }

    private interface Breaking {
        void apply(Path folder) throws Exception;
    }

    private static void assertEnds(String name, Map<String, String> bound, Breaking breaking, String setting)
            throws Exception {
        Path folder = Files.createTempDirectory("sluice-spill-test").resolve("spill");
        Map<String, String> overrides = new java.util.LinkedHashMap<>(bound);
        overrides.put("SLUICE_SPILL_DIR", folder.toString());
        overrides.put("SLUICE_TRANSACTION_MEMORY", "64KiB");
        try (PostgresDatabase database = Notes.database(name)) {
            try (RunningSluice sluice = RunningSluice.on(database, overrides);
                    SseClient alice = Notes.open(sluice, ALICE)) {
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);
                breaking.apply(folder);
                inOneTransaction(database, BIG, "INSERT INTO notes VALUES (2, '" + ALICE + "', 'x')");

                assertThat(sluice.server().ended().get(60, TimeUnit.SECONDS)).contains(setting);
                assertThat(sluice.readyStatus()).isEqualTo(503);
                SseClient refused = sluice.stream(sluice.token(ALICE), shape("mine", "notes", ""));
                assertThat(refused.status()).isEqualTo(503);

                sluice.server().close();

                assertThat(alice.await("error").data()).contains("\"server_shutdown\"", "\"retry_after_ms\":");
                assertThat(alice.awaitEnd()).isEqualTo(SseClient.End.BY_SERVER);
                // all of a commit or nothing of it
                assertThat(Notes.ids(alice)).containsExactly(1);
            }
            if (Files.isDirectory(folder)) {
                Files.deleteIfExists(folder.resolve("slot-mark"));
            }
            Files.deleteIfExists(folder);
            try (RunningSluice again = RunningSluice.on(database, Map.of("SLUICE_TRANSACTION_MEMORY", "64KiB"))) {
                assertThat(again.metrics()).contains("sluice_spilled_transactions_total 1");
            }
        }
    }

    private static List<String> changes(SseClient client) {
        return client.received().stream()
                .filter(event -> event.is("change"))
                .map(event -> event.json().get("op").asText() + " " + Notes.id(event) + " " + title(event))
                .toList();
    }

    private static String title(SseEvent change) {
        return change.json().get("record").get("title").asText();
    }

    private static void inOneTransaction(PostgresDatabase database, String... statements) {
        database.execute("DO $do$ BEGIN " + String.join("; ", statements) + "; END $do$");
    }
}
