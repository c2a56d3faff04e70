package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.ValueType;
import sluice.core.pgoutput.Tuple;

/// Constants, decoded once when an expression is compiled.
final class Constants {
    private static final byte[] NO_BYTES = new byte[0];

    private Constants() {}

    record IntegerConstant(Tuple.Kind known, long number) implements Operand.OfInteger {
        static IntegerConstant of(@Nullable String text) {
            if (text == null) {
                return new IntegerConstant(Tuple.Kind.NULL, 0);
            }
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            return new IntegerConstant(Tuple.Kind.TEXT, Columns.parseInteger(bytes, 0, bytes.length));
        }

        /// @param type date, timestamp or timestamptz
        static IntegerConstant moment(ValueType<?> type, @Nullable String text) {
            return text == null
                    ? new IntegerConstant(Tuple.Kind.NULL, 0)
                    : new IntegerConstant(Tuple.Kind.TEXT, (Long) type.cast(type.parse(text)));
        }

        @Override
        public Tuple.Kind kind(RowImage row) {
            return known;
        }

        @Override
        public long value(RowImage row) {
            return number;
        }
    }

    /// Identity equality: the array is never handed out for writing.
    static final class BytesConstant implements Operand.OfBytes {
        private final Tuple.Kind known;
        private final byte[] text;

        private BytesConstant(Tuple.Kind known, byte[] text) {
            this.known = known;
            this.text = text;
        }

        static BytesConstant of(@Nullable String text) {
            return text == null
                    ? new BytesConstant(Tuple.Kind.NULL, NO_BYTES)
                    : new BytesConstant(Tuple.Kind.TEXT, text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public Tuple.Kind kind(RowImage row) {
            return known;
        }

        @Override
        public byte[] bytes(RowImage row) {
            return text;
        }

        @Override
        public int offset(RowImage row) {
            return 0;
        }

        @Override
        public int length(RowImage row) {
            return text.length;
        }
    }

    /// Raises as soon as it is asked for, as PostgreSQL evaluates all arguments of a function before calling it.
    record RaisingInteger(String sqlState) implements Operand.OfInteger {
        @Override
        public Tuple.Kind kind(RowImage row) {
            throw new EvaluationException(sqlState);
        }

        @Override
        public long value(RowImage row) {
            throw new EvaluationException(sqlState);
        }
    }

    record RaisingBytes(String sqlState) implements Operand.OfBytes {
        @Override
        public Tuple.Kind kind(RowImage row) {
            throw new EvaluationException(sqlState);
        }

        @Override
        public byte[] bytes(RowImage row) {
            throw new EvaluationException(sqlState);
        }

        @Override
        public int offset(RowImage row) {
            throw new EvaluationException(sqlState);
        }

        @Override
        public int length(RowImage row) {
            throw new EvaluationException(sqlState);
        }
    }
}
