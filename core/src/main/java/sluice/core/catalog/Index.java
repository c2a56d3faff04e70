package sluice.core.catalog;

import java.util.List;

/// One valid index of a relation.
///
/// @param columns attnums in index order; 0 stands for an expression
/// @param kind what the index guarantees
/// @param partial whether it covers only some rows
public record Index(String name, List<Integer> columns, Kind kind, Coverage partial) {
    public Index {
        columns = List.copyOf(columns);
    }

    /// What the index guarantees.
    public enum Kind {
        PLAIN,
        UNIQUE_IMMEDIATE,
        UNIQUE_DEFERRABLE,
        PRIMARY_IMMEDIATE,
        PRIMARY_DEFERRABLE
    }

    /// Whether every row is in the index.
    public enum Coverage {
        ALL_ROWS,
        PARTIAL
    }
}
