package sluice.server.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.recorded.Recording;

/// Makes what the simulation of the recorded world replays.
///
/// `-Dsluice.record=FILE` keeps the recording there, `-Dsluice.record.commits=N` makes it that long, and
/// `-Dsluice.record.seed=N` another one. One that is kept is of a server of its own, which a standby follows.
class RecordingPgTest {
    private static final int SHORT = 12;
    private static final int LONG = 130;
    private static final int STANDBY_COMMITS = 40;

    @TempDir
    private Path scratch;

    private static void record(PostgresCluster cluster, int commits, Recorder.Fork fork, Path file) throws Exception {
        long seed = Long.getLong("sluice.record.seed", 1L);
        try (PostgresDatabase database = cluster.createDatabase("recording").withStandardRoles();
                Recorder recorder = new Recorder(database, seed)) {
            recorder.record(commits, fork).write(file);
        }
    }

    @Test
    void a_recording_holds_the_slots_bytes_and_what_every_caller_selects_after_each_commit() throws Exception {
        String wanted = System.getProperty("sluice.record");
        Path file = wanted == null ? scratch.resolve("short.json.gz") : Path.of(wanted);
        int commits = Integer.getInteger("sluice.record.commits", wanted == null ? SHORT : LONG);
        if (wanted == null) {
            record(PostgresCluster.of(PostgresCluster.NEWEST), commits, Recorder.Fork.NONE, file);
        } else {
            try (PostgresCluster own = PostgresCluster.start(PostgresCluster.NEWEST, Map.of("autovacuum", "off"))) {
                record(own, commits, new Recorder.Fork(commits / 2, STANDBY_COMMITS), file);
            }
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
