package sluice.core.function;

/// LIKE, ILIKE, SIMILAR TO and regular expressions (`like.c`, `regexp.c`).
final class PatternFunctions {
    private PatternFunctions() {}

    static void register(FunctionTable table) {}
}
