package sluice.core.function;

/// Functions of texts (`varlena.c`, `oracle_compat.c`).
final class TextFunctions {
    private TextFunctions() {}

    static void register(FunctionTable table) {}
}
