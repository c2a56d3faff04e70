package sluice.core.expression;

import org.jspecify.annotations.Nullable;

/// A compiled expression of any type over one row. Immutable and free of side effects.
@FunctionalInterface
interface Scalar {
    /// The answer where the log did not carry what was needed.
    Object UNKNOWN = new Object() {
        @Override
        public String toString() {
            return "unknown";
        }
    };

    /// Whether an answer is {@link #UNKNOWN}.
    @SuppressWarnings("ReferenceEquality") // there is one such object
    static boolean isUnknown(@Nullable Object answer) {
        return answer == UNKNOWN;
    }

    /// @return a value in the Java form of the expression's type, null for SQL NULL, or {@link #UNKNOWN}
    /// @throws sluice.core.datum.EvaluationException when PostgreSQL would have raised an error, or might have
    @Nullable
    Object evaluate(RowImage row);
}
