package sluice.core.shape;

import java.util.List;

/// One term of a filter as the client wrote it.
///
/// @param values one for {@link Operator#EQ}, 1 to {@link FilterParser#VALUES_MAX} for {@link Operator#IN}
public record ParsedTerm(String column, Operator operator, List<String> values) {
    public ParsedTerm {
        values = List.copyOf(values);
    }

    /// What the term compares with.
    public enum Operator {
        EQ,
        IN
    }
}
