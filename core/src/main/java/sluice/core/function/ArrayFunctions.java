package sluice.core.function;

/// Arrays (`arrayfuncs.c`, `array_userfuncs.c`).
final class ArrayFunctions {
    private ArrayFunctions() {}

    static void register(FunctionTable table) {}
}
