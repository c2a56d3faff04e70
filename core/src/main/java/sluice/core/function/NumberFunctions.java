package sluice.core.function;

/// `numeric`, `float4` and `float8` (`numeric.c`, `float.c`).
final class NumberFunctions {
    private NumberFunctions() {}

    static void register(FunctionTable table) {}
}
