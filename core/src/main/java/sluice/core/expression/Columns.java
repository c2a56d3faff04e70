package sluice.core.expression;

import sluice.core.datum.EvaluationException;
import sluice.core.datum.MomentText;
import sluice.core.datum.ValueType;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// Reads columns of a tuple where they lie: the text PostgreSQL wrote into the log, never copied.
final class Columns {
    private Columns() {}

    record IntegerColumn(int attnum) implements Operand.OfInteger {
        @Override
        public Tuple.Kind kind(RowImage row) {
            return row.kind(attnum);
        }

        @Override
        public long value(RowImage row) {
            Tuple tuple = row.tuple();
            int position = row.mapping().position(attnum);
            return parseInteger(tuple.bytes(), tuple.offset(position), tuple.length(position));
        }
    }

    /// @param type date, timestamp or timestamptz
    record MomentColumn(int attnum, ValueType<?> type) implements Operand.OfInteger {
        @Override
        public Tuple.Kind kind(RowImage row) {
            return row.kind(attnum);
        }

        @Override
        public long value(RowImage row) {
            Tuple tuple = row.tuple();
            int position = row.mapping().position(attnum);
            return MomentText.read(type, tuple.bytes(), tuple.offset(position), tuple.length(position));
        }
    }

    record BytesColumn(int attnum) implements Operand.OfBytes {
        @Override
        public Tuple.Kind kind(RowImage row) {
            return row.kind(attnum);
        }

        @Override
        public byte[] bytes(RowImage row) {
            return row.tuple().bytes();
        }

        @Override
        public int offset(RowImage row) {
            return row.tuple().offset(row.mapping().position(attnum));
        }

        @Override
        public int length(RowImage row) {
            return row.tuple().length(row.mapping().position(attnum));
        }
    }

    /// A bool column, printed `t` or `f` by pgoutput.
    static Truth truth(RowImage row, int attnum) {
        return switch (row.kind(attnum)) {
            case NULL -> Truth.NULL;
            case UNCHANGED, NOT_SENT -> Truth.UNDECIDABLE;
            case TEXT -> {
                Tuple tuple = row.tuple();
                int position = row.mapping().position(attnum);
                byte first = tuple.length(position) == 1 ? tuple.bytes()[tuple.offset(position)] : 0;
                if (first != 't' && first != 'f') {
                    throw new EvaluationException("22P02");
                }
                yield Truth.of(first == 't');
            }
        };
    }

    /// @throws EvaluationException when the slice is not what PostgreSQL prints for an int8 or narrower
    static long parseInteger(byte[] bytes, int offset, int length) {
        int end = offset + length;
        int at = offset;
        boolean negative = length > 0 && bytes[at] == '-';
        if (negative) {
            at++;
        }
        if (at == end || end - at > 19) {
            throw new EvaluationException("22P02");
        }
        // Summed as a negative number, because the least int8 has no positive counterpart.
        long sum = 0;
        for (; at < end; at++) {
            int digit = bytes[at] - '0';
            if (digit < 0 || digit > 9) {
                throw new EvaluationException("22P02");
            }
            if (sum < (Long.MIN_VALUE + digit) / 10) {
                throw new EvaluationException("22003");
            }
            sum = sum * 10 - digit;
        }
        if (!negative && sum == Long.MIN_VALUE) {
            throw new EvaluationException("22003");
        }
        return negative ? sum : -sum;
    }
}
