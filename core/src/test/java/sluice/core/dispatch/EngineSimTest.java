package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The engine against a naive judge, in worlds where everything happens in any order: commits that SQL shows late and
/// out of order, rights that move, answers that come late or never, clients that stop, leave and come back.
///
/// {@link FurtherEngineSimTest} runs as many more. `-Dsluice.seeds=N` runs that many, `-Dsluice.seed=N` one alone,
/// and `-Dsluice.tell=true` prints what happens in it.
class EngineSimTest {
    static final int SEEDS = Integer.getInteger("sluice.seeds", 1_000);
    private static final int TURNS = 260;

    private long changes;

    private long run(long seed) {
        try {
            SimWorld world = new SimWorld(seed);
            for (int part = 0; part < 2; part++) {
                for (int i = 0; i < TURNS; i++) {
                    world.turn();
                }
                world.settle();
            }
            changes += world.sink().changes;
            return world.sink().trace();
        } catch (RuntimeException | AssertionError failed) {
            throw new AssertionError("seed " + seed + " (-Dsluice.seed=" + seed + "): " + failed.getMessage(), failed);
        }
    }

    @Test
    void whatever_happens_nothing_leaks_nothing_is_lost_in_silence_and_everything_comes_to_rest() {
        Long one = Long.getLong("sluice.seed");
        if (one != null) {
            run(one);
            return;
        }
        runAll(0);
    }

    /// Runs as many seeds as are wanted, from this one on.
    void runAll(long first) {
        for (long seed = first; seed < first + SEEDS; seed++) {
            run(seed);
            if (seed % 1_000 == 999) {
                System.out.println(seed + 1 + " seeds, " + changes + " changes");
            }
        }
        assertThat(changes).isGreaterThan(SEEDS);
    }

    @Test
    void the_same_seed_makes_the_same_trace() {
        for (long seed = 0; seed < 10; seed++) {
            assertThat(run(seed)).isEqualTo(run(seed));
        }
    }
}
