package sluice.core.shape;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.wal.ResumePosition;

/// A shape as the client wrote it, unchecked.
///
/// @param filter null or empty for every row
/// @param columns null for every column
/// @param ops null for INSERT, UPDATE and DELETE
/// @param resume where the client was; null when it did not ask to resume, and beats `initial`
/// @param unsupported names of members this server knows of but does not support yet; any makes the request refused
public record ShapeRequest(
        String schema,
        String table,
        @Nullable String filter,
        @Nullable List<String> columns,
        @Nullable List<String> ops,
        Transitions transitions,
        Initial initial,
        @Nullable ResumePosition resume,
        List<String> unsupported)
        implements SubscriptionTarget {
    /// A shape that begins with the next commit.
    public ShapeRequest(
            String schema,
            String table,
            @Nullable String filter,
            @Nullable List<String> columns,
            @Nullable List<String> ops,
            Transitions transitions,
            List<String> unsupported) {
        this(schema, table, filter, columns, ops, transitions, Initial.NONE, null, unsupported);
    }

    public ShapeRequest {
        columns = columns == null ? null : List.copyOf(columns);
        ops = ops == null ? null : List.copyOf(ops);
        unsupported = List.copyOf(unsupported);
    }

    /// What the subscription begins with.
    public enum Initial {
        /// The next commit.
        NONE,
        /// The rows there are.
        SNAPSHOT
    }

    /// The same shape, from where the client was.
    public ShapeRequest resumedAt(ResumePosition position) {
        return new ShapeRequest(schema, table, filter, columns, ops, transitions, initial, position, unsupported);
    }

    /// The same shape, with the names of its table as the catalog has them: a great many requests share one text.
    public ShapeRequest of(Relation relation) {
        if (!schema.equals(relation.schema()) || !table.equals(relation.name())) {
            return this;
        }
        return new ShapeRequest(
                relation.schema(), relation.name(), filter, columns, ops, transitions, initial, resume, unsupported);
    }

    /// Whether rows entering and leaving the shape are reported as such.
    public enum Transitions {
        REPORTED,
        NOT_REPORTED
    }
}
