package sluice.server.metrics;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/// The tables that may appear as labels. Names come from the catalog only, and past a bound they share one label,
/// so no schema change can make the figures grow without end. Thread-safe.
final class TableNames {
    static final int TABLES_MAX = 2_000;
    static final String OTHER = "other";

    private record Table(String schema, String name) {}

    private final ConcurrentMap<Table, Table> known = new ConcurrentHashMap<>();

    /// Whether this table has a label of its own.
    boolean admits(String schema, String name) {
        Table table = new Table(schema, name);
        if (known.containsKey(table)) {
            return true;
        }
        if (known.size() >= TABLES_MAX) {
            return false;
        }
        known.put(table, table);
        return true;
    }
}
