package sluice.core.function;

/// Dates, times and intervals. The time zone of every session is UTC, so `timestamptz` counts as `timestamp` does.
final class TimeFunctions {
    private TimeFunctions() {}

    static void register(FunctionTable table) {
        DateFunctions.register(table);
        ClockFunctions.register(table);
        TimestampFunctions.register(table);
        IntervalFunctions.register(table);
        TimeFields.register(table);
        TimeTruncation.register(table);
        TimeZones.register(table);
        Overlaps.register(table);
    }
}
