package sluice.server.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.recorded.Recording;

/// Makes what the simulation of the recorded world replays.
///
/// `-Dsluice.record=FILE` keeps the recording there, `-Dsluice.record.commits=N` makes it that long, and
/// `-Dsluice.record.seed=N` another one.
class RecordingPgTest {
    private static final int SHORT = 12;

    @TempDir
    private Path scratch;

    @Test
    void a_recording_holds_the_slots_bytes_and_what_every_caller_selects_after_each_commit() throws Exception {
        String wanted = System.getProperty("sluice.record");
        Path file = wanted == null ? scratch.resolve("short.json.gz") : Path.of(wanted);
        int commits = Integer.getInteger("sluice.record.commits", wanted == null ? SHORT : 90);
        long seed = Long.getLong("sluice.record.seed", 1L);
        try (PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                        .createDatabase("recording")
                        .withStandardRoles();
                Recorder recorder = new Recorder(database, seed)) {
            recorder.record(commits).write(file);
        }
        Recording recording = Recording.read(Files.newInputStream(file));
        assertThat(recording.states()).hasSize(commits + 1);
        assertThat(recording.rows()).isNotEmpty();
        PgOutputDecoder decoder = new PgOutputDecoder();
        int changed = 0;
        for (Recording.State state : recording.states()) {
            state.messages().forEach(message -> {
                byte[] bytes = java.util.HexFormat.of().parseHex(message);
                decoder.decode(bytes, 0, bytes.length);
            });
            changed += state.messages().isEmpty() ? 0 : 1;
            assertThat(state.tables()).hasSize(recording.tables().size());
        }
        assertThat(changed).isGreaterThan(commits / 3);
        assertThat(Files.size(file)).isLessThan(200_000);
    }
}
