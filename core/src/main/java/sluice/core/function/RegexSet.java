package sluice.core.function;

import java.util.BitSet;

/// The characters that one place of a regular expression matches.
final class RegexSet {
    private final BitSet ascii = new BitSet(128);
    private final String others;
    private final boolean negated;

    private RegexSet(Builder builder, boolean negated) {
        this.ascii.or(builder.ascii);
        this.others = builder.others.toString();
        this.negated = negated;
    }

    boolean contains(int character) {
        return (character < 0x80 ? ascii.get(character) : others.indexOf(character) >= 0) != negated;
    }

    /// Collects characters.
    static final class Builder {
        private final BitSet ascii = new BitSet(128);
        private final StringBuilder others = new StringBuilder();

        void add(int character) {
            if (character < 0x80) {
                ascii.set(character);
            } else {
                others.appendCodePoint(character);
            }
        }

        void add(char first, char last) {
            ascii.set(first, last + 1);
        }

        RegexSet build() {
            return new RegexSet(this, false);
        }

        /// Every other character.
        RegexSet buildNegated() {
            return new RegexSet(this, true);
        }
    }
}
