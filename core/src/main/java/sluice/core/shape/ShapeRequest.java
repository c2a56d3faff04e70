package sluice.core.shape;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A shape as the client wrote it, unchecked.
///
/// @param filter null or empty for every row
/// @param columns null for every column
/// @param ops null for INSERT, UPDATE and DELETE
/// @param unsupported names of members this server knows of but does not support yet; any makes the request refused
public record ShapeRequest(
        String schema,
        String table,
        @Nullable String filter,
        @Nullable List<String> columns,
        @Nullable List<String> ops,
        Transitions transitions,
        List<String> unsupported)
        implements SubscriptionTarget {
    public ShapeRequest {
        columns = columns == null ? null : List.copyOf(columns);
        ops = ops == null ? null : List.copyOf(ops);
        unsupported = List.copyOf(unsupported);
    }

    /// Whether rows entering and leaving the shape are reported as such.
    public enum Transitions {
        REPORTED,
        NOT_REPORTED
    }
}
