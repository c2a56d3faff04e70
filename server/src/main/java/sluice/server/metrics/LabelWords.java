package sluice.server.metrics;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// What may be a label of its own: the first so many, so that nothing a database names makes the figures grow
/// without end. Thread-safe.
final class LabelWords<T> {
    private final int wordsMax;
    private final Set<T> known = ConcurrentHashMap.newKeySet();

    LabelWords(int wordsMax) {
        this.wordsMax = wordsMax;
    }

    /// Whether this is a label of its own.
    boolean admits(T word) {
        return known.contains(word) || (known.size() < wordsMax && known.add(word));
    }
}
