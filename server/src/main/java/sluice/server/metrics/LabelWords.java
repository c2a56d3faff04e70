package sluice.server.metrics;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Words that may be a label's value: the first so many, so that nothing a database names makes the figures grow
/// without end. Thread-safe.
final class LabelWords {
    private final int wordsMax;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    LabelWords(int wordsMax) {
        this.wordsMax = wordsMax;
    }

    /// Whether this word is a label of its own.
    boolean admits(String word) {
        return known.contains(word) || (known.size() < wordsMax && known.add(word));
    }
}
