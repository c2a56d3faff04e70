package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.JsonTypes;
import sluice.core.datum.NumberTypes;
import sluice.core.datum.Numeric;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.ComparisonKind;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

/// Conditions on one column and constants that are decided on the column's bytes, without making an object of them.
///
/// Only what has the usual form is decided so. Everything else, NULL and what the log did not carry included, goes
/// the general way, whose answer this never changes.
final class InPlace {
    private InPlace() {}

    /// What the bytes of a column say, null when they have another form than the usual one.
    @FunctionalInterface
    private interface Reading {
        @Nullable
        Truth of(byte[] bytes, int from, int end);
    }

    /// @param general what decides everything that is not decided here
    static Predicate comparison(Expression.Comparison comparison, Predicate general) {
        ComparisonKind kind = comparison.kind();
        if (!(comparison.right() instanceof Expression.Constant(var type, var text)) || text == null) {
            return general;
        }
        if (comparison.left() instanceof Expression.ColumnValue(var attnum, var columnType)
                && columnType.equals(NumberTypes.NUMERIC)) {
            DecimalConstant constant = DecimalConstant.of(NumberTypes.NUMERIC.parse(text));
            return constant == null
                    ? general
                    : on(attnum, (bytes, from, end) -> constant.compared(kind, bytes, from, end), general);
        }
        if (comparison.left() instanceof Expression.Call call
                && call.function().symbol().equals("jsonb_object_field_text")) {
            return member(kind, call, text, general);
        }
        return general;
    }

    /// @param general what decides everything that is not decided here
    static Predicate call(Expression.Call call, Predicate general) {
        return switch (call.function().symbol()) {
            case "textlike" -> like(call, Truth.TRUE, general);
            case "textnlike" -> like(call, Truth.FALSE, general);
            case "arraycontains", "arrayoverlap" -> {
                boolean all = call.function().symbol().equals("arraycontains");
                ElementText wanted = elements(call.arguments().getLast());
                yield wanted == null
                                || !(call.arguments().getFirst()
                                        instanceof Expression.ColumnValue(var attnum, var type))
                        ? general
                        : on(attnum, all ? wanted::areAllIn : wanted::isAnyIn, general);
            }
            default -> general;
        };
    }

    /// @param general what decides everything that is not decided here
    static Predicate quantified(Expression.Quantified quantified, Predicate general) {
        if (!quantified.operation().equals(new Expression.Operation.Compares(ComparisonKind.EQUAL))
                || quantified.quantifier() != Expression.Quantifier.ANY
                || !(quantified.scalar() instanceof Expression.Constant(var type, var text))
                || text == null
                || !(quantified.elements() instanceof Expression.Elements.Computed(var array))
                || !(array instanceof Expression.ColumnValue(var attnum, var arrayType))
                || !(arrayType instanceof ArrayType elements)
                || !elements.element().equals(type)) {
            return general;
        }
        ElementText wanted = ElementText.of(elements, ArrayValue.of(List.of(type.parse(text))));
        return wanted == null ? general : on(attnum, wanted::equalsAnyIn, general);
    }

    private static @Nullable ElementText elements(Expression expression) {
        return expression instanceof Expression.Constant(var type, var text)
                        && type instanceof ArrayType array
                        && text != null
                ? ElementText.of(array, array.parse(text))
                : null;
    }

    /// @param matching what is said of a text that matches
    private static Predicate like(Expression.Call call, Truth matching, Predicate general) {
        Integer attnum = textColumn(call.arguments().getFirst());
        if (attnum == null
                || !(call.arguments().getLast() instanceof Expression.Constant(var type, var pattern))
                || pattern == null) {
            return general;
        }
        PlainPattern plain = PlainPattern.of(pattern);
        return plain == null
                ? general
                : on(
                        attnum,
                        (bytes, from, end) -> plain.tooLong(end - from)
                                ? null
                                : plain.matches(bytes, from, end) ? matching : matching.not(),
                        general);
    }

    private static @Nullable Integer textColumn(Expression expression) {
        Expression read = expression instanceof Expression.Recast(var argument, var type) ? argument : expression;
        return read instanceof Expression.ColumnValue(var attnum, var type) && isText(type) ? attnum : null;
    }

    private static boolean isText(ValueType<?> type) {
        return type.equals(ValueTypes.TEXT) || type.equals(ValueTypes.VARCHAR);
    }

    private static Predicate member(ComparisonKind kind, Expression.Call call, String text, Predicate general) {
        if (kind != ComparisonKind.EQUAL && kind != ComparisonKind.NOT_EQUAL) {
            return general;
        }
        if (!(call.arguments().getFirst() instanceof Expression.ColumnValue(var attnum, var type))
                || !type.equals(JsonTypes.JSONB)
                || !(call.arguments().getLast() instanceof Expression.Constant(var keyType, var key))
                || key == null
                || !MemberText.isPrintedAsItIs(key)) {
            return general;
        }
        MemberText wanted = new MemberText(key.getBytes(StandardCharsets.UTF_8), text.getBytes(StandardCharsets.UTF_8));
        boolean equal = kind == ComparisonKind.EQUAL;
        return on(
                attnum,
                (bytes, from, end) -> {
                    Truth same = wanted.isIn(bytes, from, end);
                    return same == null || equal ? same : same.not();
                },
                general);
    }

    private static Predicate on(int attnum, Reading reading, Predicate general) {
        return row -> {
            if (row.kind(attnum) != Tuple.Kind.TEXT) {
                return general.test(row);
            }
            Tuple tuple = row.tuple();
            int position = row.mapping().position(attnum);
            int from = tuple.offset(position);
            Truth answer = reading.of(tuple.bytes(), from, from + tuple.length(position));
            return answer == null ? general.test(row) : answer;
        };
    }

    /// A number of at most 18 digits.
    ///
    /// @param scale how many digits of `unscaled` stand behind the point
    private record DecimalConstant(long unscaled, int scale) {
        private static final int DIGITS_MAX = 18;
        private static final long[] POWERS = powers();

        private static long[] powers() {
            long[] powers = new long[DIGITS_MAX + 1];
            powers[0] = 1;
            for (int i = 1; i < powers.length; i++) {
                powers[i] = powers[i - 1] * 10;
            }
            return powers;
        }

        static @Nullable DecimalConstant of(Numeric number) {
            return number.isFinite()
                            && number.decimal().precision() <= DIGITS_MAX
                            && number.decimal().scale() <= DIGITS_MAX
                    ? new DecimalConstant(
                            number.decimal().unscaledValue().longValueExact(),
                            number.decimal().scale())
                    : null;
        }

        /// Whether the column's number is so to the constant.
        @Nullable
        Truth compared(ComparisonKind kind, byte[] bytes, int from, int end) {
            int at = from < end && bytes[from] == '-' ? from + 1 : from;
            int first = at;
            int point = end;
            long sum = 0;
            if (end - first > DIGITS_MAX) {
                return null;
            }
            for (; at < end; at++) {
                if (bytes[at] == '.' && point == end && at > first && at + 1 < end) {
                    point = at;
                    continue;
                }
                int digit = bytes[at] - '0';
                if (digit < 0 || digit > 9) {
                    return null;
                }
                sum = sum * 10 + digit;
            }
            if (first == end) {
                return null;
            }
            int columnScale = point == end ? 0 : end - point - 1;
            long column = first == from ? sum : -sum;
            int shared = Math.max(columnScale, scale);
            long columnFactor = POWERS[shared - columnScale];
            long constantFactor = POWERS[shared - scale];
            if (overflows(column, columnFactor) || overflows(unscaled, constantFactor)) {
                return null;
            }
            return Truth.of(kind.holds(Long.compare(column * columnFactor, unscaled * constantFactor)));
        }

        private static boolean overflows(long value, long factor) {
            long product = value * factor;
            return Math.multiplyHigh(value, factor) != product >> 63;
        }
    }

    /// A LIKE pattern without `_` and escapes whose only `%` stand at its ends. Texts of UTF-8 match byte by byte.
    ///
    /// @param open which ends have a `%`
    private record PlainPattern(byte[] literal, Open open) {
        /// Longest text times longest pattern that is searched byte by byte.
        private static final long WORK_MAX = 1_000_000;

        private enum Open {
            NOWHERE,
            BEFORE,
            AFTER,
            AROUND
        }

        static @Nullable PlainPattern of(String pattern) {
            boolean before = pattern.startsWith("%");
            boolean after = pattern.length() > 1 && pattern.endsWith("%");
            String literal = pattern.substring(before ? 1 : 0, pattern.length() - (after ? 1 : 0));
            if (literal.isEmpty() || literal.indexOf('%') >= 0 || literal.indexOf('_') >= 0) {
                return null;
            }
            if (literal.indexOf('\\') >= 0) {
                return null;
            }
            Open open = before ? after ? Open.AROUND : Open.BEFORE : after ? Open.AFTER : Open.NOWHERE;
            return new PlainPattern(literal.getBytes(StandardCharsets.UTF_8), open);
        }

        boolean tooLong(int length) {
            return open == Open.AROUND && (long) length * literal.length > WORK_MAX;
        }

        boolean matches(byte[] bytes, int from, int end) {
            int last = end - literal.length;
            return switch (open) {
                case NOWHERE -> last == from && stands(bytes, from);
                case BEFORE -> last >= from && stands(bytes, last);
                case AFTER -> last >= from && stands(bytes, from);
                case AROUND -> {
                    int at = from;
                    while (at <= last && !stands(bytes, at)) {
                        at++;
                    }
                    yield at <= last;
                }
            };
        }

        private boolean stands(byte[] bytes, int at) {
            return Arrays.equals(bytes, at, at + literal.length, literal, 0, literal.length);
        }
    }
}
