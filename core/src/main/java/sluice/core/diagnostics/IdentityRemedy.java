package sluice.core.diagnostics;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;

/// What a replica identity carries, and the SQL that makes it carry more.
public final class IdentityRemedy {
    private IdentityRemedy() {}

    /// Whether an old tuple carries the column.
    public static boolean covers(Relation relation, int attnum) {
        return switch (relation.identity()) {
            case ReplicaIdentity.Default(var columns) -> columns.contains(attnum);
            case ReplicaIdentity.UsingIndex(var index, var columns) -> columns.contains(attnum);
            case ReplicaIdentity.Full() -> true;
            case ReplicaIdentity.Nothing() -> false;
            case ReplicaIdentity.Uneven(var partition) -> false;
        };
    }

    /// A unique index over the missing columns and the key, made the identity: what deletes need without FULL.
    public static String sql(Relation relation, List<String> missing) {
        List<String> columns = new ArrayList<>(missing);
        for (int attnum : relation.keyColumns()) {
            Column key = relation.column(attnum);
            if (key != null && !columns.contains(key.name())) {
                columns.add(key.name());
            }
        }
        String table = SqlNames.of(relation);
        if (relation.keyColumns().isEmpty()) {
            return "ALTER TABLE " + table + " REPLICA IDENTITY FULL;";
        }
        String index = freeName(relation);
        StringBuilder list = new StringBuilder();
        StringBuilder notNull = new StringBuilder();
        for (String column : columns) {
            list.append(list.isEmpty() ? "" : ", ").append(SqlNames.quoted(column));
            Column described = relation.column(column);
            if (described != null && described.nullability() == Column.Nullability.NULLABLE) {
                notNull.append("ALTER TABLE ")
                        .append(table)
                        .append(" ALTER COLUMN ")
                        .append(SqlNames.quoted(column));
                notNull.append(" SET NOT NULL; ");
            }
        }
        return notNull + "CREATE UNIQUE INDEX " + SqlNames.quoted(index) + " ON " + table + " (" + list
                + "); ALTER TABLE " + table + " REPLICA IDENTITY USING INDEX " + SqlNames.quoted(index) + ";";
    }

    /// The same for the key, beside what the identity has.
    public static String sqlForKey(Relation relation) {
        List<String> present = new ArrayList<>();
        if (relation.identity() instanceof ReplicaIdentity.UsingIndex(var index, var columns)) {
            for (int attnum : columns) {
                Column column = relation.column(attnum);
                if (column != null) {
                    present.add(column.name());
                }
            }
        }
        return sql(relation, present);
    }

    private static String freeName(Relation relation) {
        String wanted = relation.name() + "_ri";
        List<String> taken = relation.indexes().stream().map(Index::name).toList();
        String name = wanted;
        for (int i = 2; taken.contains(name); i++) {
            name = wanted + i;
        }
        return name;
    }
}
