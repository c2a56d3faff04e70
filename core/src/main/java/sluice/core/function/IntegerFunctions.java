package sluice.core.function;

import static sluice.core.datum.ValueTypes.INT2;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.OID;

import java.math.BigInteger;
import java.util.List;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.ValueType;

/// Whole numbers: comparisons, casts between their widths, arithmetic and bits (`int.c`, `int8.c`).
final class IntegerFunctions {
    private static final String OUT_OF_RANGE = "22003";
    private static final String DIVISION_BY_ZERO = "22012";

    private IntegerFunctions() {}

    /// How the server names functions of one pair of widths.
    private record Pair(String prefix, ValueType<Long> left, ValueType<Long> right, ValueType<Long> result) {}

    static void register(FunctionTable table) {
        List<Pair> pairs = List.of(
                new Pair("int2", INT2, INT2, INT2),
                new Pair("int4", INT4, INT4, INT4),
                new Pair("int8", INT8, INT8, INT8),
                new Pair("int24", INT2, INT4, INT4),
                new Pair("int42", INT4, INT2, INT4),
                new Pair("int28", INT2, INT8, INT8),
                new Pair("int82", INT8, INT2, INT8),
                new Pair("int48", INT4, INT8, INT8),
                new Pair("int84", INT8, INT4, INT8));
        for (Pair pair : pairs) {
            table.ordered(pair.prefix(), pair.left(), pair.right());
            arithmetic(table, pair);
        }
        table.ordered("oid", OID, OID);
        for (Pair pair : pairs.subList(0, 3)) {
            oneWidth(table, pair.prefix(), pair.left());
        }
        shifts(table);
        divisors(table, "int4", INT4);
        divisors(table, "int8", INT8);
        table.unary("int4inc", INT4, INT4, a -> sum(INT4, a, 1));
        table.unary("int8inc", INT8, INT8, a -> sum(INT8, a, 1));
        casts(table);
    }

    /// By a distance modulo the width of the machine word, which is four bytes for `int2` too.
    private static void shifts(FunctionTable table) {
        table.binary("int2shl", INT2, INT4, INT2, (a, b) -> (long) (short) (a.intValue() << b.intValue()))
                .neverRaises();
        table.binary("int2shr", INT2, INT4, INT2, (a, b) -> (long) (short) (a.intValue() >> b.intValue()))
                .neverRaises();
        table.binary("int4shl", INT4, INT4, INT4, (a, b) -> (long) (a.intValue() << b.intValue()))
                .neverRaises();
        table.binary("int4shr", INT4, INT4, INT4, (a, b) -> (long) (a.intValue() >> b.intValue()))
                .neverRaises();
        table.binary("int8shl", INT8, INT4, INT8, (a, b) -> a << b.intValue()).neverRaises();
        table.binary("int8shr", INT8, INT4, INT8, (a, b) -> a >> b.intValue()).neverRaises();
    }

    private static void divisors(FunctionTable table, String prefix, ValueType<Long> type) {
        table.binary(prefix + "gcd", type, type, type, (a, b) -> exact(type, divisor(a, b)));
        table.binary(prefix + "lcm", type, type, type, (a, b) -> {
            BigInteger first = BigInteger.valueOf(a);
            BigInteger second = BigInteger.valueOf(b);
            boolean zero = a == 0 || b == 0;
            return exact(
                    type,
                    zero
                            ? BigInteger.ZERO
                            : first.divide(divisor(a, b)).multiply(second).abs());
        });
    }

    private static BigInteger divisor(long a, long b) {
        return BigInteger.valueOf(a).gcd(BigInteger.valueOf(b));
    }

    private static long exact(ValueType<Long> type, BigInteger value) {
        if (value.bitLength() > 63) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return checked(type, value.longValueExact());
    }

    private static void arithmetic(FunctionTable table, Pair pair) {
        ValueType<Long> result = pair.result();
        table.binary(pair.prefix() + "pl", pair.left(), pair.right(), result, (a, b) -> sum(result, a, b));
        table.binary(pair.prefix() + "mi", pair.left(), pair.right(), result, (a, b) -> difference(result, a, b));
        table.binary(pair.prefix() + "mul", pair.left(), pair.right(), result, (a, b) -> product(result, a, b));
        table.binary(pair.prefix() + "div", pair.left(), pair.right(), result, (a, b) -> quotient(result, a, b));
    }

    private static void oneWidth(FunctionTable table, String prefix, ValueType<Long> type) {
        table.binary(prefix + "mod", type, type, type, (a, b) -> {
            if (b == 0) {
                throw new EvaluationException(DIVISION_BY_ZERO);
            }
            return a % b;
        });
        table.unary(prefix + "um", type, type, a -> difference(type, 0, a));
        table.unary(prefix + "up", type, type, a -> a).neverRaises();
        table.unary(prefix + "abs", type, type, a -> a < 0 ? difference(type, 0, a) : a);
        table.binary(prefix + "and", type, type, type, (a, b) -> a & b).neverRaises();
        table.binary(prefix + "or", type, type, type, (a, b) -> a | b).neverRaises();
        table.binary(prefix + "xor", type, type, type, (a, b) -> a ^ b).neverRaises();
        table.unary(prefix + "not", type, type, a -> ~a).neverRaises();
        table.binary(prefix + "larger", type, type, type, Math::max).neverRaises();
        table.binary(prefix + "smaller", type, type, type, Math::min).neverRaises();
    }

    private static void casts(FunctionTable table) {
        cast(table, "i2toi4", INT2, INT4);
        cast(table, "int28", INT2, INT8);
        cast(table, "int48", INT4, INT8);
        cast(table, "i4toi2", INT4, INT2);
        cast(table, "int82", INT8, INT2);
        cast(table, "int84", INT8, INT4);
        cast(table, "i8tooid", INT8, OID);
        cast(table, "oidtoi8", OID, INT8);
    }

    private static void cast(FunctionTable table, String symbol, ValueType<Long> from, ValueType<Long> to) {
        table.unary(symbol, from, to, value -> checked(to, value));
    }

    /// @throws EvaluationException when the number does not fit the type
    static long checked(ValueType<Long> type, long value) {
        boolean fits = switch (type.storage().length()) {
            case 2 -> value == (short) value;
            case 4 -> type.equals(OID) ? value >>> 32 == 0 : value == (int) value;
            default -> true;
        };
        if (!fits) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return value;
    }

    private static long sum(ValueType<Long> type, long a, long b) {
        try {
            return checked(type, Math.addExact(a, b));
        } catch (ArithmeticException overflow) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
    }

    private static long difference(ValueType<Long> type, long a, long b) {
        try {
            return checked(type, Math.subtractExact(a, b));
        } catch (ArithmeticException overflow) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
    }

    private static long product(ValueType<Long> type, long a, long b) {
        try {
            return checked(type, Math.multiplyExact(a, b));
        } catch (ArithmeticException overflow) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
    }

    private static long quotient(ValueType<Long> type, long a, long b) {
        if (b == 0) {
            throw new EvaluationException(DIVISION_BY_ZERO);
        }
        // The least value has no positive counterpart.
        return b == -1 ? difference(type, 0, a) : a / b;
    }
}
