package sluice.core.expression;

import java.time.Instant;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;

/// A row as an expression sees it.
///
/// @param at the commit's timestamp, which stands for `now()` in a decision
public record RowImage(Tuple tuple, ColumnMapping mapping, Instant at) {
    /// What is known of an attribute; a column without a position is as good as not sent.
    public Tuple.Kind kind(int attnum) {
        int position = mapping.position(attnum);
        return position == ColumnMapping.ABSENT ? Tuple.Kind.NOT_SENT : tuple.kind(position);
    }
}
