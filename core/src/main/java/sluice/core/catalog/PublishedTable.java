package sluice.core.catalog;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How the publication treats one table (`pg_publication_tables` and the publication's flags).
///
/// @param columns names of the column list; null when every column is published
/// @param actions what is published
/// @param rowFilter the publication's WHERE, which makes the start fail; null when there is none
public record PublishedTable(
        @Nullable List<String> columns,
        Set<Action> actions,
        @Nullable String rowFilter) {
    public PublishedTable {
        columns = columns == null ? null : List.copyOf(columns);
        actions = actions.isEmpty() ? EnumSet.noneOf(Action.class) : EnumSet.copyOf(actions);
    }

    /// One of `publish = '...'`.
    public enum Action {
        INSERT,
        UPDATE,
        DELETE,
        TRUNCATE
    }
}
