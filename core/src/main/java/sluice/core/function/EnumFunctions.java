package sluice.core.function;

/// Enumerations (`enum.c`).
final class EnumFunctions {
    private EnumFunctions() {}

    static void register(FunctionTable table) {}
}
