package sluice.core.expression;

import sluice.core.pgoutput.Tuple;

/// A compiled value: first asked what is known of it, then, only where that is TEXT, for the value itself.
///
/// Answers without allocating. Asking for the kind raises what evaluating it would raise.
sealed interface Operand {
    Tuple.Kind kind(RowImage row);

    /// A whole number of any width.
    non-sealed interface OfInteger extends Operand {
        long value(RowImage row);
    }

    /// A text or uuid as a slice of bytes that are only read.
    non-sealed interface OfBytes extends Operand {
        byte[] bytes(RowImage row);

        int offset(RowImage row);

        int length(RowImage row);
    }
}
