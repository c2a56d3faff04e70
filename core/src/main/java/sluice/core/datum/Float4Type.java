package sluice.core.datum;

import java.nio.ByteBuffer;
import sluice.core.value.Oid;

/// `float4` (`float.c`), ordered as `float8` is.
final class Float4Type extends ValueType<Float> {
    Float4Type() {
        super(Oid.FLOAT4, 1021, "pg_catalog.float4", Storage.fixed(4, 4));
    }

    /// @throws UndecidableException for spellings that the server reads but does not print
    @Override
    public Float parse(String text) {
        return switch (text) {
            case "NaN" -> Float.NaN;
            case "Infinity" -> Float.POSITIVE_INFINITY;
            case "-Infinity" -> Float.NEGATIVE_INFINITY;
            default -> {
                if (!Float8Type.NUMBER.matcher(text).matches()) {
                    throw new UndecidableException();
                }
                float value = Float.parseFloat(text);
                if (Float.isInfinite(value) || (value == 0 && !text.matches("-?0"))) {
                    throw new UndecidableException();
                }
                yield value;
            }
        };
    }

    @Override
    public Float input(String text) {
        String special = InputText.special(text);
        return switch (special) {
            case "NaN", "Infinity", "-Infinity" -> parse(special);
            default -> {
                String number = InputText.decimal(text);
                float value = Float.parseFloat(number);
                if (Float.isInfinite(value) || (value == 0 && !Float8Type.isZero(number))) {
                    throw new EvaluationException("22003");
                }
                yield value;
            }
        };
    }

    @Override
    public String print(Float value) {
        return FloatText.print(value.floatValue());
    }

    @Override
    public Float decode(ByteBuffer datum) throws DatumFormatException {
        return Datums.fixed(datum, 4).getFloat(0);
    }

    @Override
    public int compare(Float left, Float right) {
        return Float8Type.order(left.doubleValue(), right.doubleValue());
    }

    @Override
    public Float cast(Object value) {
        return (Float) value;
    }
}
