package sluice.core.expression;

/// When PostgreSQL itself would evaluate a row-free part, which decides what an error in it means.
public enum FoldTiming {
    /// Only immutable functions: evaluated while planning, unless an earlier constant already
    /// decided the AND or OR.
    WHILE_PLANNING,
    /// May be evaluated while planning, to estimate how many rows a condition selects: an error
    /// fails the query even
    /// where no row reaches it.
    WHILE_ESTIMATING,
    /// A scalar sub-select: evaluated when the first row reaches it.
    WHEN_REACHED
}
