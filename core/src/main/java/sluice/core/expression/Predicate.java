package sluice.core.expression;

import sluice.core.value.Truth;

/// A compiled boolean expression over one row. Immutable and free of side effects, so any thread may ask it.
@FunctionalInterface
public interface Predicate {
    /// @throws sluice.core.datum.EvaluationException when PostgreSQL would have raised an error: the row is not
    /// visible, and the caller
    ///     counts it
    Truth test(RowImage row);
}
