package sluice.core.dispatch;

import org.junit.jupiter.api.Test;

/// The seeds behind those of {@link EngineSimTest}, apart so that neither takes long by itself.
class FurtherEngineSimTest {
    @Test
    void whatever_happens_in_further_worlds_nothing_leaks_nothing_is_lost_in_silence_and_everything_comes_to_rest() {
        new EngineSimTest().runAll(EngineSimTest.SEEDS);
    }
}
