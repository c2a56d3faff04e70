package sluice.core.catalog;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One table as the catalog describes it.
///
/// @param grantsByRole by name, for each allowed role
/// @param published null when the publication does not name the table
/// @param fingerprint moves whenever the relation's data may have moved without a row in the stream, or its
///     definition, publication entry, identity or inheritance tree changed (consistency rule 19)
/// @param rightsFingerprint moves whenever policies, flags, owner or grants changed
public record Relation(
        int oid,
        String schema,
        String name,
        Kind kind,
        int ownerOid,
        RowSecurity rowSecurity,
        ReplicaIdentity identity,
        List<Column> columns,
        List<Index> indexes,
        List<Policy> policies,
        Map<String, Grants> grantsByRole,
        @Nullable PublishedTable published,
        String fingerprint,
        String rightsFingerprint) {
    public Relation {
        columns = List.copyOf(columns);
        indexes = List.copyOf(indexes);
        policies = List.copyOf(policies);
    }

    /// `pg_class.relkind`, as far as rows can be streamed from it.
    public enum Kind {
        TABLE,
        PARTITIONED_TABLE,
        PARTITION,
        OTHER
    }

    /// `relrowsecurity` and `relforcerowsecurity`.
    public enum RowSecurity {
        OFF,
        ON,
        FORCED
    }

    /// `schema.name` as messages and metrics print it.
    public String qualifiedName() {
        return schema + "." + name;
    }

    public @Nullable Column column(String columnName) {
        for (Column column : columns) {
            if (column.name().equals(columnName)) {
                return column;
            }
        }
        return null;
    }

    public @Nullable Column column(int attnum) {
        for (Column column : columns) {
            if (column.attnum() == attnum) {
                return column;
            }
        }
        return null;
    }

    public Grants grants(String role) {
        return grantsByRole.getOrDefault(role, Grants.NONE);
    }

    /// Whether the publication carries everything that happens to the table.
    public boolean isServed() {
        return published != null
                && published.rowFilter() == null
                && published.actions().size() == PublishedTable.Action.values().length
                && !(identity instanceof ReplicaIdentity.Nothing);
    }

    /// Attnums of the immediate primary key, empty when there is none.
    public List<Integer> primaryKey() {
        for (Index index : indexes) {
            if (index.kind() == Index.Kind.PRIMARY_IMMEDIATE) {
                return index.columns();
            }
        }
        return List.of();
    }

    /// The columns that name a row to a client: the primary key, or the replica identity's index;
    /// empty when there is
    /// neither.
    public List<Integer> keyColumns() {
        List<Integer> primary = primaryKey();
        if (!primary.isEmpty()) {
            return primary;
        }
        return switch (identity) {
            case ReplicaIdentity.UsingIndex(var index, var indexColumns) -> indexColumns;
            case ReplicaIdentity.Default(var keyColumns) -> keyColumns;
            case ReplicaIdentity.Full() -> List.of();
            case ReplicaIdentity.Nothing() -> List.of();
        };
    }
}
