package sluice.core.diagnostics;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.Policy;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.expression.PolicyTree;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// What is to be said of a table's replica identity.
final class TableFindings {
    /// Below this PostgreSQL stores no value apart from its row.
    private static final int SHORT_CHARACTERS_MAX = 400;

    private static final int TYPMOD_HEADER = 4;

    /// `xml`, `jsonpath`, `tsvector`.
    private static final List<Integer> OTHER_LONG_TYPES = List.of(142, 4072, 3614);

    private TableFindings() {}

    static void add(CatalogImage catalog, Relation relation, List<Finding> findings) {
        // the identity that counts is each partition's own
        if (relation.kind() == Relation.Kind.PARTITIONED_TABLE) {
            return;
        }
        broken(relation, findings);
        fullWithToast(catalog, relation, findings);
    }

    private static void broken(Relation relation, List<Finding> findings) {
        PublishedTable published = relation.published();
        if (published == null
                || !(published.actions().contains(PublishedTable.Action.UPDATE)
                        || published.actions().contains(PublishedTable.Action.DELETE))) {
            return;
        }
        String reason = switch (relation.identity()) {
            case ReplicaIdentity.Nothing() -> "it has the replica identity NOTHING";
            case ReplicaIdentity.UsingIndex(var index, var columns) ->
                columns.isEmpty() ? "it has the replica identity of an index that was dropped" : "";
            case ReplicaIdentity.Default(var columns) ->
                columns.isEmpty() ? "it has the replica identity DEFAULT and no immediate primary key" : "";
            case ReplicaIdentity.Full() -> "";
            case ReplicaIdentity.Uneven(var partition) -> "";
        };
        if (!reason.isEmpty()) {
            findings.add(Finding.of(
                    Finding.Code.REPLICA_IDENTITY_BROKEN,
                    relation.qualifiedName(),
                    null,
                    new Finding.Text(
                            reason,
                            "PostgreSQL refuses the application's own UPDATE and DELETE of this table",
                            workingIdentity(relation))));
        }
    }

    private static String workingIdentity(Relation relation) {
        String alter = "ALTER TABLE " + SqlNames.of(relation) + " REPLICA IDENTITY ";
        if (!relation.primaryKey().isEmpty()) {
            return alter + "DEFAULT;";
        }
        for (Index index : relation.indexes()) {
            if (mayIdentify(relation, index)) {
                return alter + "USING INDEX " + SqlNames.quoted(index.name()) + ";";
            }
        }
        return alter + "FULL; -- better: add a primary key";
    }

    private static boolean mayIdentify(Relation relation, Index index) {
        if (index.kind() != Index.Kind.UNIQUE_IMMEDIATE || index.partial() == Index.Coverage.PARTIAL) {
            return false;
        }
        for (int attnum : index.columns()) {
            Column column = relation.column(attnum);
            if (column == null || column.nullability() == Column.Nullability.NULLABLE) {
                return false;
            }
        }
        return true;
    }

    private static void fullWithToast(CatalogImage catalog, Relation relation, List<Finding> findings) {
        if (!(relation.identity() instanceof ReplicaIdentity.Full())) {
            return;
        }
        List<String> wide = new ArrayList<>();
        for (Column column : relation.columns()) {
            if (column.generation() == Column.Generation.NONE && mayBeToasted(catalog, column)) {
                wide.add(column.name());
            }
        }
        // a policy that reads the whole row needs all of the old one
        Set<Integer> read = readByPolicies(relation);
        if (!wide.isEmpty() && !read.contains(PolicyTree.WHOLE_ROW)) {
            findings.add(Finding.of(
                    Finding.Code.REPLICA_IDENTITY_FULL_WITH_TOAST,
                    relation.qualifiedName(),
                    null,
                    new Finding.Text(
                            "it has the replica identity FULL and long values in " + String.join(", ", wide),
                            "each UPDATE and DELETE writes the whole old row to the log, values stored apart included",
                            narrowIdentity(relation, read))));
        }
    }

    private static Set<Integer> readByPolicies(Relation relation) {
        Set<Integer> read = new TreeSet<>();
        for (Policy policy : relation.policies()) {
            if (policy.tree() != null && relation.rowSecurity() != Relation.RowSecurity.OFF) {
                read.addAll(PolicyTree.read(policy.tree()).columns());
            }
        }
        return read;
    }

    /// The primary key, or an index over it and what the policies read. Filters on other columns need them too.
    private static String narrowIdentity(Relation relation, Set<Integer> read) {
        List<Integer> key = relation.primaryKey();
        if (key.isEmpty()) {
            return "ALTER TABLE " + SqlNames.of(relation) + " ADD PRIMARY KEY (...);";
        }
        List<String> missing = new ArrayList<>();
        for (Column column : relation.columns()) {
            if (read.contains(column.attnum()) && !key.contains(column.attnum())) {
                missing.add(column.name());
            }
        }
        return missing.isEmpty()
                ? "ALTER TABLE " + SqlNames.of(relation) + " REPLICA IDENTITY DEFAULT;"
                : IdentityRemedy.sql(relation, missing);
    }

    /// By type and declared length; how a column is stored may differ, and is not looked at.
    private static boolean mayBeToasted(CatalogImage catalog, Column column) {
        PgType type = catalog.type(column.typeOid()).undomained();
        return switch (type) {
            case PgType.Array array -> true;
            case PgType.Composite composite -> true;
            case PgType.TextLike textLike -> true;
            case PgType.Enumeration enumeration -> false;
            case PgType.Domain domain -> false;
            case PgType.Base(var oid, var name) ->
                switch (oid) {
                    case Oid.TEXT, Oid.BYTEA, Oid.JSON, Oid.JSONB -> true;
                    case Oid.VARCHAR, Oid.BPCHAR ->
                        column.typmod() < 0 || column.typmod() - TYPMOD_HEADER > SHORT_CHARACTERS_MAX;
                    default -> OTHER_LONG_TYPES.contains(oid);
                };
        };
    }
}
