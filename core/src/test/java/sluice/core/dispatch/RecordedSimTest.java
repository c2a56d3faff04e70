package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What real databases did, replayed at another pace with other clients and faults for each seed: the slot's bytes
/// through the real decoder, assembler and engine, judged by what PostgreSQL showed every caller after every commit.
///
/// `-Dsluice.seeds=N` runs that many, `-Dsluice.seed=N` one alone of `-Dsluice.recording=NAME`, and
/// `-Dsluice.tell=true` prints what happens in it. `RecordingPgTest` makes recordings.
class RecordedSimTest {
    private static final int SEEDS = Integer.getInteger("sluice.seeds", Boolean.getBoolean("sluice.long") ? 5_000 : 50);
    private static final int PAUSE = 250;
    private static final int TURNS_MAX = 1_500;

    private long changes;
    private long worlds;

    private long run(RecordedHistory history, String name, long seed) {
        try {
            RecordedWorld world = new RecordedWorld(history, seed);
            for (int i = 0; i < TURNS_MAX && !world.isOver(); i++) {
                world.turn();
                if (i == PAUSE) {
                    world.settle();
                }
            }
            world.settle();
            changes += world.sink().changes;
            worlds++;
            return world.sink().trace();
        } catch (RuntimeException | AssertionError failed) {
            throw new AssertionError(
                    name + ", seed " + seed + " (-Dsluice.recording=" + name + " -Dsluice.seed=" + seed + "): "
                            + failed.getMessage(),
                    failed);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "3"})
    void a_recorded_database_leaks_nothing_loses_nothing_in_silence_and_comes_to_rest(String name) {
        Long one = Long.getLong("sluice.seed");
        if (one != null && !name.equals(System.getProperty("sluice.recording", name))) {
            return;
        }
        RecordedHistory history = RecordedHistory.of("/recorded/" + name + ".json.gz");
        if (one != null) {
            run(history, name, one);
            return;
        }
        for (long seed = 0; seed < SEEDS; seed++) {
            run(history, name, seed);
        }
        assertThat(changes).isGreaterThan(worlds);
    }

    @Test
    void the_same_seed_replays_the_same_recording_alike() {
        RecordedHistory history = RecordedHistory.of("/recorded/1.json.gz");
        for (long seed = 0; seed < 3; seed++) {
            assertThat(run(history, "1", seed)).isEqualTo(run(history, "1", seed));
        }
    }
}
