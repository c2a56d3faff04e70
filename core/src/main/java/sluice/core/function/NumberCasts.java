package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT4;
import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.NumberTypes.NUMERIC;
import static sluice.core.datum.ValueTypes.INT2;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Numeric;
import sluice.core.datum.ValueType;

/// Casts between whole, decimal and floating-point numbers. Decimals round half away from zero, floats half to even.
final class NumberCasts {
    private static final String OUT_OF_RANGE = "22003";
    private static final String NOT_SUPPORTED = "0A000";

    /// Where a type's modifier starts (`VARHDRSZ`).
    private static final int MODIFIER_MIN = 4;

    private NumberCasts() {}

    static void register(FunctionTable table) {
        List<ValueType<Long>> integers = List.of(INT2, INT4, INT8);
        List<String> bytes = List.of("2", "4", "8");
        for (int i = 0; i < integers.size(); i++) {
            ValueType<Long> type = integers.get(i);
            String width = bytes.get(i);
            table.unary("int" + width + "_numeric", type, NUMERIC, Numeric::of).neverRaises();
            table.unary("numeric_int" + width, NUMERIC, type, a -> whole(type, a));
            table.unary("i" + width + "tod", type, FLOAT8, a -> (double) a).neverRaises();
            table.unary("i" + width + "tof", type, FLOAT4, a -> (float) a).neverRaises();
            table.unary("dtoi" + width, FLOAT8, type, a -> whole(type, a));
            table.unary("ftoi" + width, FLOAT4, type, a -> whole(type, a));
        }
        table.unary("ftod", FLOAT4, FLOAT8, Float::doubleValue).neverRaises();
        table.unary("dtof", FLOAT8, FLOAT4, NumberCasts::narrowed);
        table.unary("float8_numeric", FLOAT8, NUMERIC, a -> decimal(a, 15)).neverRaises();
        table.unary("float4_numeric", FLOAT4, NUMERIC, a -> decimal(a, 6)).neverRaises();
        table.unary("numeric_float8", NUMERIC, FLOAT8, NumberCasts::toDouble);
        table.unary("numeric_float4", NUMERIC, FLOAT4, NumberCasts::toFloat);
        table.binary("numeric", NUMERIC, INT4, NUMERIC, NumberCasts::modified);
    }

    private static long whole(ValueType<Long> type, Numeric a) {
        if (!a.isFinite()) {
            throw new EvaluationException(NOT_SUPPORTED);
        }
        BigDecimal rounded = a.decimal().setScale(0, RoundingMode.HALF_UP);
        if (rounded.precision() > 19) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        BigInteger integer = rounded.toBigIntegerExact();
        if (integer.bitLength() > 63) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return IntegerFunctions.checked(type, integer.longValueExact());
    }

    private static long whole(ValueType<Long> type, double a) {
        double rounded = Math.rint(a);
        // 2^63 itself is a double and does not fit.
        if (!(rounded >= -0x1p63 && rounded < 0x1p63)) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return IntegerFunctions.checked(type, (long) rounded);
    }

    private static float narrowed(double a) {
        float narrow = (float) a;
        if ((Float.isInfinite(narrow) && !Double.isInfinite(a)) || (narrow == 0 && a != 0)) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return narrow;
    }

    /// Through the text with so many digits, as the server does it: what they do not tell is lost.
    private static Numeric decimal(double a, int digits) {
        if (Double.isNaN(a)) {
            return Numeric.NAN;
        }
        if (Double.isInfinite(a)) {
            return a > 0 ? Numeric.INFINITY : Numeric.MINUS_INFINITY;
        }
        if (a == 0) {
            return Numeric.ZERO;
        }
        return Numeric.of(new BigDecimal(a)
                .round(new MathContext(digits, RoundingMode.HALF_EVEN))
                .stripTrailingZeros());
    }

    static double toDouble(Numeric a) {
        if (!a.isFinite()) {
            return a.isNaN() ? Double.NaN : a.signum() * Double.POSITIVE_INFINITY;
        }
        double value = Double.parseDouble(a.decimal().toString());
        if (Double.isInfinite(value) || (value == 0 && a.signum() != 0)) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return value;
    }

    static float toFloat(Numeric a) {
        if (!a.isFinite()) {
            return a.isNaN() ? Float.NaN : a.signum() * Float.POSITIVE_INFINITY;
        }
        float value = Float.parseFloat(a.decimal().toString());
        if (Float.isInfinite(value) || (value == 0 && a.signum() != 0)) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return value;
    }

    /// `numeric(precision, scale)`, whose modifier has the precision in its upper half and eleven bits of signed
    /// scale.
    private static Numeric modified(Numeric a, long modifier) {
        if (modifier < MODIFIER_MIN || a.isNaN()) {
            return a;
        }
        if (a.isInfinite()) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        int packed = (int) modifier - MODIFIER_MIN;
        int precision = packed >> 16 & 0xffff;
        int scale = ((packed & 0x7ff) ^ 1024) - 1024;
        BigDecimal rounded = a.decimal().setScale(scale, RoundingMode.HALF_UP);
        if (rounded.signum() != 0 && (long) rounded.precision() - scale > precision - scale) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        return Numeric.of(scale < 0 ? rounded.setScale(0) : rounded);
    }
}
