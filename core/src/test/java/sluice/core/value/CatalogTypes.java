package sluice.core.value;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/// Reads types from a database's catalog, one query a type: slow, short, and independent of how the server does it.
final class CatalogTypes {
    private CatalogTypes() {}

    static PgType load(Connection connection, int oid) throws SQLException {
        String sql = """
                SELECT t.typtype, t.typname, t.typbasetype::int8, t.typrelid::int8, t.typsubscript::oid <> 0
                       AND t.typsubscript = 'array_subscript_handler'::regproc AS is_array,
                       t.typelem::int8, e.typdelim
                FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem WHERE t.oid = ?""";
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setLong(1, Integer.toUnsignedLong(oid));
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalArgumentException("no type " + oid);
                }
                String name = row.getString(2);
                if (row.getBoolean(5)) {
                    return new PgType.Array(
                            oid,
                            name,
                            load(connection, (int) row.getLong(6)),
                            row.getString(7).charAt(0));
                }
                return switch (row.getString(1)) {
                    case "d" -> new PgType.Domain(oid, name, load(connection, (int) row.getLong(3)));
                    case "c" -> new PgType.Composite(oid, name, attributes(connection, row.getLong(4)));
                    case "e" -> new PgType.Enumeration(oid, name, List.of());
                    default -> new PgType.Base(oid, name);
                };
            }
        }
    }

    private static List<PgType.Attribute> attributes(Connection connection, long relation) throws SQLException {
        String sql = "SELECT attname, atttypid::int8 FROM pg_attribute"
                + " WHERE attrelid = ? AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        List<PgType.Attribute> attributes = new ArrayList<>();
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setLong(1, relation);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    attributes.add(new PgType.Attribute(row.getString(1), load(connection, (int) row.getLong(2))));
                }
            }
        }
        return attributes;
    }
}
