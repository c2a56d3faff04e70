package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;

/// What a replica identity carries, and the SQL that makes it carry more.
final class IdentityRemedy {
    private IdentityRemedy() {}

    static boolean covers(Relation relation, int attnum) {
        return switch (relation.identity()) {
            case ReplicaIdentity.Default(var columns) -> columns.contains(attnum);
            case ReplicaIdentity.UsingIndex(var index, var columns) -> columns.contains(attnum);
            case ReplicaIdentity.Full() -> true;
            case ReplicaIdentity.Nothing() -> false;
        };
    }

    /// A unique index over the missing columns and the key, made the identity: what deletes need without FULL.
    static String sql(Relation relation, List<String> missing) {
        List<String> columns = new ArrayList<>(missing);
        for (int attnum : relation.keyColumns()) {
            Column key = relation.column(attnum);
            if (key != null && !columns.contains(key.name())) {
                columns.add(key.name());
            }
        }
        String table = quote(relation.schema()) + "." + quote(relation.name());
        if (relation.keyColumns().isEmpty()) {
            return "ALTER TABLE " + table + " REPLICA IDENTITY FULL;";
        }
        String index = relation.name() + "_ri";
        StringBuilder list = new StringBuilder();
        StringBuilder notNull = new StringBuilder();
        for (String column : columns) {
            list.append(list.isEmpty() ? "" : ", ").append(quote(column));
            Column described = relation.column(column);
            if (described != null && described.nullability() == Column.Nullability.NULLABLE) {
                notNull.append("ALTER TABLE ")
                        .append(table)
                        .append(" ALTER COLUMN ")
                        .append(quote(column));
                notNull.append(" SET NOT NULL; ");
            }
        }
        return notNull + "CREATE UNIQUE INDEX " + quote(index) + " ON " + table + " (" + list + "); ALTER TABLE "
                + table + " REPLICA IDENTITY USING INDEX " + quote(index) + ";";
    }

    private static String quote(String identifier) {
        return "\"" + identifier.replace("\"", "\"\"") + "\"";
    }
}
