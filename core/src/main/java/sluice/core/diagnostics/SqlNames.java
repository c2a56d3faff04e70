package sluice.core.diagnostics;

import sluice.core.catalog.Relation;

/// Names as SQL text, always quoted: their case is kept and no keyword is met.
final class SqlNames {
    private SqlNames() {}

    static String quoted(String identifier) {
        return "\"" + identifier.replace("\"", "\"\"") + "\"";
    }

    /// `"schema"."table"`.
    static String of(Relation relation) {
        return quoted(relation.schema()) + "." + quoted(relation.name());
    }
}
