package sluice.core.function;

/// Dates, times and intervals (`date.c`, `timestamp.c`).
final class TimeFunctions {
    private TimeFunctions() {}

    static void register(FunctionTable table) {}
}
