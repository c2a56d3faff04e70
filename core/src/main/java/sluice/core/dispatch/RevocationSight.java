package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.diagnostics.Census.Blindness;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;

/// Whether the log says of a table what ends sessions and bans users.
final class RevocationSight {
    private RevocationSight() {}

    /// By what it is told whether the log told of everything between two readings of a table.
    ///
    /// @param attnums of the columns that are looked at: one made anew may come with values the log says nothing of
    record Watched(Relation.Feed feed, List<Integer> attnums) {
        /// @param otherColumn that is looked at besides the id; may be the id itself
        static Watched of(Relation relation, String otherColumn) {
            List<Integer> attnums = new ArrayList<>(2);
            for (String name : List.of(RevocationTables.ID, otherColumn)) {
                Column column = relation.column(name);
                attnums.add(column == null ? 0 : column.attnum());
            }
            return new Watched(relation.feed(), attnums);
        }

        boolean reaches(Watched later) {
            return attnums.equals(later.attnums) && feed.reaches(later.feed);
        }
    }

    /// @param relation null when the catalog does not know the table
    /// @param otherColumn what has to be published besides the id
    /// @return null when it does
    static @Nullable Blindness of(
            CatalogImage catalog, RevocationTables.Table table, @Nullable Relation relation, String otherColumn) {
        String name = '"' + table.schema() + "\".\"" + table.name() + '"';
        if (relation == null || !relation.isServed()) {
            return new Blindness(
                    table.qualifiedName(),
                    "table " + table.qualifiedName() + " is not published with all its changes",
                    "ALTER PUBLICATION ... ADD TABLE " + name + ";");
        }
        for (String column : List.of(RevocationTables.ID, otherColumn)) {
            if (!isPublished(relation, column)) {
                return new Blindness(
                        table.qualifiedName(),
                        "column \"" + column + "\" of table " + table.qualifiedName()
                                + " does not exist or is not published",
                        "ALTER PUBLICATION ... DROP TABLE " + name + "; ALTER PUBLICATION ... ADD TABLE " + name + ";");
            }
        }
        if (ids(catalog, relation) == null) {
            return new Blindness(
                    table.qualifiedName(),
                    "the ids of table " + table.qualifiedName()
                            + " are of a type or a collation that tokens cannot be compared with",
                    "ALTER TABLE " + name + " ALTER COLUMN \"id\" TYPE ...; -- uuid, smallint, integer, bigint, text,"
                            + " varchar or char");
        }
        return names(relation)
                ? null
                : new Blindness(
                        table.qualifiedName(),
                        "the replica identity of table " + table.qualifiedName() + " lacks \"id\"",
                        "ALTER TABLE " + name + " REPLICA IDENTITY FULL;");
    }

    /// How ids of the table are compared, null when tokens cannot be compared with them.
    static @Nullable IdType ids(CatalogImage catalog, Relation relation) {
        Column id = relation.column(RevocationTables.ID);
        if (id == null) {
            return null;
        }
        Collation collation = catalog.collation(id.collationOid());
        boolean byBytes = collation == null || collation.determinism() == Collation.Determinism.DETERMINISTIC;
        return byBytes ? IdType.of(catalog.type(id.typeOid())) : null;
    }

    private static boolean isPublished(Relation relation, String column) {
        PublishedTable published = relation.published();
        List<String> list = published == null ? null : published.columns();
        return relation.column(column) != null && (list == null || list.contains(column));
    }

    /// Whether an old row says which it was.
    private static boolean names(Relation relation) {
        Column id = relation.column(RevocationTables.ID);
        return switch (relation.identity()) {
            case ReplicaIdentity.Full() -> true;
            case ReplicaIdentity.Default(var columns) -> id != null && columns.contains(id.attnum());
            case ReplicaIdentity.UsingIndex(var index, var columns) -> id != null && columns.contains(id.attnum());
            case ReplicaIdentity.Nothing _, ReplicaIdentity.Uneven _ -> false;
        };
    }
}
