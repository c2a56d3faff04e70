package sluice.core.function;

/// `numeric`, `float4`, `float8` and their casts.
final class NumberFunctions {
    private NumberFunctions() {}

    static void register(FunctionTable table) {
        NumericFunctions.register(table);
        FloatFunctions.register(table);
        NumberCasts.register(table);
    }
}
