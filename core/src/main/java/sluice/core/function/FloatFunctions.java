package sluice.core.function;

import static sluice.core.datum.NumberTypes.FLOAT4;
import static sluice.core.datum.NumberTypes.FLOAT8;

import sluice.core.datum.EvaluationException;

/// `float4` and `float8` (`float.c`, `float.h`), as far as IEEE 754 leaves one answer: what the C library computes
/// (exp, ln, power, sines) is not here.
final class FloatFunctions {
    private static final String OUT_OF_RANGE = "22003";
    private static final String DIVISION_BY_ZERO = "22012";
    private static final String BAD_POWER = "2201F";

    private static final double RADIANS_PER_DEGREE = 0.017453292519943295;

    private FloatFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("float4", FLOAT4);
        table.ordered("float8", FLOAT8);
        table.orderedBy("float48", FLOAT4, FLOAT8, (a, b) -> FLOAT8.compare(a.doubleValue(), b));
        table.orderedBy("float84", FLOAT8, FLOAT4, (a, b) -> FLOAT8.compare(a, b.doubleValue()));
        for (Operation operation : Operation.values()) {
            String suffix = operation.suffix;
            table.binary("float4" + suffix, FLOAT4, FLOAT4, FLOAT4, (a, b) -> single(operation, a, b));
            table.binary("float8" + suffix, FLOAT8, FLOAT8, FLOAT8, (a, b) -> operation.apply(a, b));
            table.binary("float48" + suffix, FLOAT4, FLOAT8, FLOAT8, (a, b) -> operation.apply(a, b));
            table.binary("float84" + suffix, FLOAT8, FLOAT4, FLOAT8, (a, b) -> operation.apply(a, b));
        }
        table.unary("float4um", FLOAT4, FLOAT4, a -> -a).neverRaises();
        table.unary("float8um", FLOAT8, FLOAT8, a -> -a).neverRaises();
        table.unary("float4up", FLOAT4, FLOAT4, a -> a).neverRaises();
        table.unary("float8up", FLOAT8, FLOAT8, a -> a).neverRaises();
        table.unary("float4abs", FLOAT4, FLOAT4, Math::abs).neverRaises();
        table.unary("float8abs", FLOAT8, FLOAT8, Math::abs).neverRaises();
        table.binary("float4larger", FLOAT4, FLOAT4, FLOAT4, (a, b) -> FLOAT4.compare(a, b) > 0 ? a : b)
                .neverRaises();
        table.binary("float8larger", FLOAT8, FLOAT8, FLOAT8, (a, b) -> FLOAT8.compare(a, b) > 0 ? a : b)
                .neverRaises();
        table.binary("float4smaller", FLOAT4, FLOAT4, FLOAT4, (a, b) -> FLOAT4.compare(a, b) < 0 ? a : b)
                .neverRaises();
        table.binary("float8smaller", FLOAT8, FLOAT8, FLOAT8, (a, b) -> FLOAT8.compare(a, b) < 0 ? a : b)
                .neverRaises();
        table.unary("dceil", FLOAT8, FLOAT8, Math::ceil).neverRaises();
        table.unary("dfloor", FLOAT8, FLOAT8, Math::floor).neverRaises();
        table.unary("dround", FLOAT8, FLOAT8, Math::rint).neverRaises();
        table.unary("dtrunc", FLOAT8, FLOAT8, a -> a < 0 ? Math.ceil(a) : Math.floor(a))
                .neverRaises();
        table.unary("dsign", FLOAT8, FLOAT8, a -> a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0)
                .neverRaises();
        table.unary("dsqrt", FLOAT8, FLOAT8, FloatFunctions::root);
        table.unary("degrees", FLOAT8, FLOAT8, a -> Operation.DIVIDED.apply(a, RADIANS_PER_DEGREE));
        table.unary("radians", FLOAT8, FLOAT8, a -> Operation.TIMES.apply(a, RADIANS_PER_DEGREE));
    }

    /// The four operations, which raise where a result is infinite or zero and the arguments do not say so.
    private enum Operation {
        PLUS("pl"),
        MINUS("mi"),
        TIMES("mul"),
        DIVIDED("div");

        private final String suffix;

        Operation(String suffix) {
            this.suffix = suffix;
        }

        private double unchecked(double a, double b) {
            return switch (this) {
                case PLUS -> a + b;
                case MINUS -> a - b;
                case TIMES -> a * b;
                case DIVIDED -> a / b;
            };
        }

        double apply(double a, double b) {
            return checked(a, b, unchecked(a, b));
        }

        double checked(double a, double b, double result) {
            if (this == DIVIDED && b == 0 && !Double.isNaN(a)) {
                throw new EvaluationException(DIVISION_BY_ZERO);
            }
            boolean infiniteAllowed = Double.isInfinite(a) || (this != DIVIDED && Double.isInfinite(b));
            if (Double.isInfinite(result) && !infiniteAllowed) {
                throw new EvaluationException(OUT_OF_RANGE);
            }
            boolean zeroAllowed = switch (this) {
                case PLUS, MINUS -> true;
                case TIMES -> a == 0 || b == 0;
                case DIVIDED -> a == 0 || Double.isInfinite(b);
            };
            if (result == 0 && !zeroAllowed) {
                throw new EvaluationException(OUT_OF_RANGE);
            }
            return result;
        }
    }

    /// One operation on two floats is exact in double precision or rounds there harmlessly, as a
    /// double has more than
    /// twice a float's digits.
    private static float single(Operation operation, float a, float b) {
        float result = (float) operation.unchecked(a, b);
        return (float) operation.checked(a, b, result);
    }

    private static double root(double a) {
        if (a < 0) {
            throw new EvaluationException(BAD_POWER);
        }
        return Math.sqrt(a);
    }
}
