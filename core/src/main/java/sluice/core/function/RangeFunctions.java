package sluice.core.function;

/// Ranges (`rangetypes.c`).
final class RangeFunctions {
    private RangeFunctions() {}

    static void register(FunctionTable table) {}
}
