package sluice.server.metrics;

/// The tables that may appear as labels. Names come from the catalog only, and past a bound they share one label,
/// so no schema change can make the figures grow without end. Thread-safe.
final class TableNames {
    static final int TABLES_MAX = 2_000;
    static final String OTHER = "other";

    private record Table(String schema, String name) {}

    private final LabelWords<Table> known = new LabelWords<>(TABLES_MAX);

    /// Whether this table has a label of its own.
    boolean admits(String schema, String name) {
        return known.admits(new Table(schema, name));
    }
}
