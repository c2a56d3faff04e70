package sluice.server.postgres.console;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What one statement gave.
///
/// @param tag as PostgreSQL names what was done, such as `INSERT 0 1`
/// @param columns empty for a statement without rows
/// @param rows values as PostgreSQL's text, null for SQL NULL
public record StatementResult(String tag, List<String> columns, List<List<@Nullable String>> rows) {
    public StatementResult {
        columns = List.copyOf(columns);
        rows = Collections.unmodifiableList(new ArrayList<>(rows));
    }

    /// Values are never printed by accident.
    @Override
    public String toString() {
        return "StatementResult[" + tag + "]";
    }
}
