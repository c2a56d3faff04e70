package sluice.core.expression;

import org.jspecify.annotations.Nullable;

/// What PostgreSQL said of one {@link Fold}. One that raised never takes the others of its batch with it.
public sealed interface FoldAnswer {
    /// @param text PostgreSQL's text form, null for SQL NULL
    record Value(@Nullable String text) implements FoldAnswer {
        /// The text may hold claims and is never printed.
        @Override
        public String toString() {
            return "Value[" + (text == null ? "NULL" : "text") + "]";
        }
    }

    record Raised(String sqlState) implements FoldAnswer {}
}
