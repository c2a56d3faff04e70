package sluice.core.function;

import java.util.List;

/// A parsed regular expression.
sealed interface RegexNode {
    /// No limit to a repetition.
    int UNBOUNDED = -1;

    record One(RegexSet set) implements RegexNode {}

    /// One after the other.
    record Sequence(List<RegexNode> parts) implements RegexNode {
        public Sequence {
            parts = List.copyOf(parts);
        }
    }

    record Choice(List<RegexNode> branches) implements RegexNode {
        public Choice {
            branches = List.copyOf(branches);
        }
    }

    /// @param most {@link #UNBOUNDED} for no limit
    record Repeat(RegexNode part, int least, int most) implements RegexNode {}

    /// The very start or the very end of the text.
    record Anchor(Edge edge) implements RegexNode {}

    enum Edge {
        START,
        END
    }

    default boolean hasAnchor() {
        return switch (this) {
            case One ignored -> false;
            case Anchor ignored -> true;
            case Repeat(var part, var ignoredLeast, var ignoredMost) -> part.hasAnchor();
            case Sequence(var parts) -> parts.stream().anyMatch(RegexNode::hasAnchor);
            case Choice(var branches) -> branches.stream().anyMatch(RegexNode::hasAnchor);
        };
    }
}
