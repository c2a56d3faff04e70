package sluice.core.function;

/// `bytea` (`varlena.c`).
final class BinaryFunctions {
    private BinaryFunctions() {}

    static void register(FunctionTable table) {}
}
