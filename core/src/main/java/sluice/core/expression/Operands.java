package sluice.core.expression;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.pgoutput.Tuple;

/// Which expressions are compared where they lie, without making an object of their value.
final class Operands {
    private Operands() {}

    /// A column, a constant, the clock or an error of a type with such a form, null for everything else.
    static @Nullable Operand of(Expression expression) {
        if (expression instanceof Expression.ColumnValue(var attnum, var type)) {
            return switch (type.representation()) {
                case INTEGER -> new Columns.IntegerColumn(attnum);
                case MOMENT -> new Columns.MomentColumn(attnum, type);
                case BYTES -> new Columns.BytesColumn(attnum);
                case TRUTH, OBJECT -> null;
            };
        }
        if (expression instanceof Expression.Constant(var type, var text)) {
            return switch (type.representation()) {
                case INTEGER -> Constants.IntegerConstant.of(text);
                case MOMENT -> Constants.IntegerConstant.moment(type, text);
                case BYTES -> Constants.BytesConstant.of(text);
                case TRUTH, OBJECT -> null;
            };
        }
        if (expression instanceof Expression.Raised(var type, var sqlState)) {
            return switch (type.representation()) {
                case INTEGER, MOMENT -> new Constants.RaisingInteger(sqlState);
                case BYTES -> new Constants.RaisingBytes(sqlState);
                case TRUTH, OBJECT -> null;
            };
        }
        if (expression instanceof Expression.Clock(var type)) {
            return new ClockMoment(type);
        }
        return null;
    }

    /// The commit's time, cut off below the microsecond.
    private record ClockMoment(ValueType<?> type) implements Operand.OfInteger {
        private static final long EPOCH_SECONDS = 946_684_800;
        private static final long SECONDS_PER_DAY = 86_400;

        @Override
        public Tuple.Kind kind(RowImage row) {
            return Tuple.Kind.TEXT;
        }

        @Override
        public long value(RowImage row) {
            Instant at = row.at();
            long seconds = at.getEpochSecond() - EPOCH_SECONDS;
            long days = Math.floorDiv(seconds, SECONDS_PER_DAY);
            if (!TimeTypes.isTimestampDate(days)) {
                throw new UndecidableException();
            }
            return type.equals(TimeTypes.DATE) ? days : seconds * 1_000_000 + at.getNano() / 1_000;
        }
    }
}
