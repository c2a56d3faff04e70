package sluice.server.judge;

import java.util.HashMap;
import java.util.Map;

/// What the evaluator has so far shown to decide in process, learnt from the expressions it was given.
///
/// A feature is a signature or a construct on a type. What was never once decided is hardly written again, so that an
/// evaluator that decides little is judged on that little.
final class Support {
    private static final int PATIENCE = 5;

    private final Map<String, int[]> decidedAndTried = new HashMap<>();

    void note(Sample sample, boolean decided) {
        for (String feature : sample.term().features()) {
            int[] counts = decidedAndTried.computeIfAbsent(feature, _ -> new int[2]);
            counts[0] += decided ? 1 : 0;
            counts[1]++;
        }
    }

    boolean decided(String feature) {
        return decidedAndTried.getOrDefault(feature, new int[2])[0] > 0;
    }

    /// Whether it was decided before, or may still be.
    boolean promising(String feature) {
        int[] counts = decidedAndTried.getOrDefault(feature, new int[2]);
        return counts[0] > 0 || counts[1] < PATIENCE;
    }
}
