package sluice.core.catalog;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Xid;

/// One table as the catalog describes it.
///
/// @param grantsByRole by name, for each allowed role
/// @param published null when the publication does not name the table
/// @param fingerprint moves whenever the definition, the published columns or the identity changed
/// @param rightsFingerprint moves whenever policies, flags, owner or grants changed
/// @param rightVersions the transaction that wrote each of these rights last, by a name for the right; a right that
///     moved and moved back has another
/// @param feed breaks whenever rows may have come, gone or changed without the stream saying so
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
        String rightsFingerprint,
        Map<String, Xid> rightVersions,
        Feed feed) {
    public Relation {
        columns = List.copyOf(columns);
        indexes = List.copyOf(indexes);
        policies = List.copyOf(policies);
    }

    /// A relation whose rights have no versions.
    public Relation(
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
            String rightsFingerprint,
            Feed feed) {
        this(
                oid,
                schema,
                name,
                kind,
                ownerOid,
                rowSecurity,
                identity,
                columns,
                indexes,
                policies,
                grantsByRole,
                published,
                fingerprint,
                rightsFingerprint,
                Collections.emptyMap(),
                feed);
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

    /// What has to stay as it is for the stream to tell of every change of the table's rows.
    ///
    /// Rows come and go without a row in the stream when the table leaves the publication and comes back,
    /// when actions are not published for a while, when a partition of a published root is attached,
    /// detached, truncated or rewritten, and when ALTER TABLE writes all rows anew.
    ///
    /// @param source the publication, its entry for the table and its actions; of a partition root the tree
    ///     with each leaf's storage, of a partition the way to its root
    /// @param storage where the rows of a table without partitions lie: TRUNCATE, which the stream tells,
    ///     VACUUM FULL, which changes nothing, and a rewrite by ALTER TABLE move it
    /// @param columnVersions by attnum: only ALTER TABLE and column grants move them
    public record Feed(String source, String storage, Map<Integer, String> columnVersions) {
        /// Whether the stream told of everything between this reading and a later one.
        public boolean reaches(Feed later) {
            return source.equals(later.source) && (storage.equals(later.storage) || !columnsMoved(later));
        }

        private boolean columnsMoved(Feed later) {
            for (Map.Entry<Integer, String> known : columnVersions.entrySet()) {
                String now = later.columnVersions.get(known.getKey());
                if (now != null && !now.equals(known.getValue())) {
                    return true;
                }
            }
            return false;
        }
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

    /// Columns that may have taken the name and the place of a dropped one since an earlier reading: a row from in
    /// between may have another column's value there.
    ///
    /// These were written behind a column that was dropped. A column that nobody wrote has had its name throughout,
    /// and a name is one column's; where none was dropped before it, a column has had its place.
    public List<Integer> renewedSince(Relation earlier) {
        List<Integer> renewed = new ArrayList<>();
        int dropped = firstDroppedSince(earlier);
        for (Column column : columns) {
            if (column.attnum() > dropped && isWrittenSince(earlier, column)) {
                renewed.add(column.attnum());
            }
        }
        return renewed;
    }

    private int firstDroppedSince(Relation earlier) {
        int known = earlier.columns.stream().mapToInt(Column::attnum).max().orElse(0);
        int highest = columns.stream().mapToInt(Column::attnum).max().orElse(0);
        for (int attnum = 1; attnum < highest; attnum++) {
            // one that is new may have come and gone
            if (column(attnum) == null && (attnum > known || earlier.column(attnum) != null)) {
                return attnum;
            }
        }
        return highest;
    }

    private boolean isWrittenSince(Relation earlier, Column column) {
        Column was = earlier.column(column.attnum());
        String version = feed.columnVersions().get(column.attnum());
        return was == null
                || !was.name().equals(column.name())
                || was.typeOid() != column.typeOid()
                || !Objects.equals(version, earlier.feed.columnVersions().get(column.attnum()));
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
            case ReplicaIdentity.Uneven(var partition) -> List.of();
        };
    }
}
