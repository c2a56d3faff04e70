package sluice.core.function;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.UndecidableException;

/// A regular expression as an automaton whose states are all followed at once: the time is bounded by the text's
/// length times the number of states, whatever the pattern.
final class Regex {
    private static final int STATES_MAX = 2000;

    /// How letters of patterns are compared.
    enum LetterMatching {
        EXACT,
        CASELESS
    }

    /// A state either consumes a character of a set, or leads on without one: past an anchor, or both ways.
    ///
    /// @param other a second way on, or {@link #NONE}
    private record State(@Nullable RegexSet consumes, RegexNode.@Nullable Edge anchor, int next, int other) {}

    private static final int NONE = -1;

    /// Where a match is complete.
    private static final int ACCEPTING = -2;

    private final List<State> states = new ArrayList<>();
    private final int start;
    private final boolean asciiOnly;

    private Regex(RegexNode root, boolean asciiOnly) {
        this.start = build(root, ACCEPTING);
        this.asciiOnly = asciiOnly;
    }

    /// @throws UndecidableException when it is more than is read here
    static Regex compile(String pattern, LetterMatching letters, CollationRule collation) {
        RegexParser parser = new RegexParser(pattern, letters, collation);
        RegexNode root = parser.parse();
        return new Regex(root, parser.usesClasses());
    }

    /// @return the state in front of a part that goes on at `next`
    private int build(RegexNode node, int next) {
        return switch (node) {
            case RegexNode.One(var set) -> add(new State(set, null, next, NONE));
            case RegexNode.Anchor(var edge) -> add(new State(null, edge, next, NONE));
            case RegexNode.Sequence(var parts) -> {
                int first = next;
                for (RegexNode part : parts.reversed()) {
                    first = build(part, first);
                }
                yield first;
            }
            case RegexNode.Choice(var branches) -> {
                int first = NONE;
                for (RegexNode branch : branches) {
                    first = add(new State(null, null, build(branch, next), first));
                }
                yield first;
            }
            case RegexNode.Repeat repeat -> buildRepeat(repeat, next);
        };
    }

    private int buildRepeat(RegexNode.Repeat repeat, int next) {
        int first = next;
        if (repeat.most() == RegexNode.UNBOUNDED) {
            first = add(new State(null, null, next, NONE));
            int body = build(repeat.part(), first);
            states.set(first, new State(null, null, next, body));
        }
        for (int i = repeat.least(); i < repeat.most(); i++) {
            first = add(new State(null, null, build(repeat.part(), first), next));
        }
        for (int i = 0; i < repeat.least(); i++) {
            first = build(repeat.part(), first);
        }
        return first;
    }

    private int add(State state) {
        if (states.size() == STATES_MAX) {
            throw new UndecidableException();
        }
        states.add(state);
        return states.size() - 1;
    }

    /// Whether it matches anywhere in the text.
    ///
    /// @throws UndecidableException when it asks what a character is that only a locale knows, or
    /// for too long a text
    boolean isFoundIn(String text) {
        if ((long) text.length() * states.size() > Characters.WORK_MAX || (asciiOnly && !isPlain(text))) {
            throw new UndecidableException();
        }
        Search search = new Search(text);
        while (!search.matched && search.at < text.length()) {
            search.advance();
        }
        return search.matched;
    }

    /// All states that are reached at one place of a text.
    private final class Search {
        private final String text;
        private int at;
        private boolean matched;
        private BitSet reached = new BitSet(states.size());
        private BitSet spare = new BitSet(states.size());
        // Each state is put here by at most two others.
        private final int[] open = new int[2 * states.size() + 2];

        Search(String text) {
            this.text = text;
            follow(start);
        }

        void advance() {
            int character = text.codePointAt(at);
            at += Character.charCount(character);
            BitSet before = reached;
            reached = spare;
            spare = before;
            reached.clear();
            for (int i = before.nextSetBit(0); i >= 0; i = before.nextSetBit(i + 1)) {
                State state = states.get(i);
                if (state.consumes() != null && state.consumes().contains(character)) {
                    follow(state.next());
                }
            }
            // A match may begin at every place.
            follow(start);
        }

        /// Adds a state and what can be reached from it without a character.
        private void follow(int from) {
            int size = 0;
            open[size++] = from;
            while (size > 0) {
                int index = open[--size];
                if (index == ACCEPTING) {
                    matched = true;
                } else if (index != NONE && !reached.get(index)) {
                    reached.set(index);
                    State state = states.get(index);
                    if (state.consumes() == null && passes(state.anchor())) {
                        open[size++] = state.next();
                        open[size++] = state.other();
                    }
                }
            }
        }

        private boolean passes(RegexNode.@Nullable Edge anchor) {
            return anchor == null || (anchor == RegexNode.Edge.START ? at == 0 : at == text.length());
        }
    }

    /// ASCII without the control characters that some locales call spaces.
    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0x7e || (c < ' ' && (c < '\t' || c > '\r'))) {
                return false;
            }
        }
        return true;
    }
}
