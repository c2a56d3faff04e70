package sluice.core.datum;

import java.util.List;

/// `numeric`, `float4` and `float8`.
public final class NumberTypes {
    public static final ValueType<Numeric> NUMERIC = new NumericType();
    public static final ValueType<Float> FLOAT4 = new Float4Type();
    public static final ValueType<Double> FLOAT8 = new Float8Type();

    static final List<ValueType<?>> ALL = List.of(NUMERIC, FLOAT4, FLOAT8);

    private NumberTypes() {}
}
