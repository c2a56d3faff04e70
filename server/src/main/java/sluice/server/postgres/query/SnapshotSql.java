package sluice.server.postgres.query;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sluice.core.catalog.Relation;
import sluice.core.expression.FilterSql;
import sluice.core.shape.Projection;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// The query for the rows of a shape.
///
/// Every name is quoted and qualified. Values come as PostgreSQL's output functions print them, as in the log. A row
/// whose text is larger than an event may be comes with its key only and a flag, so that one row never takes more
/// memory than that: sizes are measured where the stored size says that it might be.
final class SnapshotSql {
    /// Stored bytes below which no row is measured: what they are printed as is bounded, however well they were
    /// compressed.
    private static final int MEASURED_FROM = 2_000;

    private static final String PLUS = " OPERATOR(pg_catalog.+) ";
    private static final String ABOVE = " OPERATOR(pg_catalog.>) ";

    /// Types whose values are all short.
    private static final Set<Integer> SHORT = Set.of(
            Oid.BOOL,
            Oid.INT2,
            Oid.INT4,
            Oid.INT8,
            Oid.OID,
            Oid.FLOAT4,
            Oid.FLOAT8,
            Oid.UUID,
            Oid.DATE,
            Oid.TIMESTAMP,
            Oid.TIMESTAMPTZ);

    private SnapshotSql() {}

    /// @param role whose grants bound what rows can be ordered by
    /// @param limits of whose rows one more is asked for, to see whether there are more
    /// @return columns in the order of the projection, and last whether only the key is there; the
    ///     parameters are those of the filter
    static String of(Relation relation, Projection projection, FilterSql filter, String role, Limits limits) {
        StringBuilder outer = new StringBuilder("SELECT ");
        StringBuilder inner = new StringBuilder();
        for (int i = 0; i < projection.size(); i++) {
            String cut = projection.entry(i).part() == Projection.Part.KEY
                    ? "sluice_rows.c" + i
                    : "CASE WHEN sluice_rows.large THEN NULL ELSE sluice_rows.c" + i + " END";
            outer.append(cut).append(", ");
            inner.append(column(projection.entry(i))).append(" AS c").append(i).append(", ");
        }
        outer.append("sluice_rows.large FROM (SELECT ").append(inner);
        // the outer SELECT is not merged with the inner because of its LIMIT, so sizes are measured once
        outer.append(large(projection, limits.rowBytesMax()))
                .append(" AS large FROM ")
                .append(only(relation))
                .append(SqlText.qualified(relation.schema(), relation.name()))
                .append(" AS sluice_row WHERE ")
                .append(filter.condition())
                .append(order(relation, role))
                .append(" LIMIT ")
                .append(limits.rowsMax() + 1)
                .append(") AS sluice_rows");
        return outer.toString();
    }

    /// @param rowBytesMax text of a row above which only its key is read
    record Limits(long rowsMax, int rowBytesMax) {}

    /// Rows of child tables are the children's in the log; those of partitions are published as the root's.
    private static String only(Relation relation) {
        return relation.kind() == Relation.Kind.PARTITIONED_TABLE ? "" : "ONLY ";
    }

    private static String column(Projection.Entry entry) {
        return "sluice_row." + SqlText.identifier(entry.name());
    }

    private static String large(Projection projection, int rowBytesMax) {
        List<String> stored = new ArrayList<>();
        List<String> printed = new ArrayList<>();
        for (Projection.Entry entry : projection.entries()) {
            if (isShort(entry.type().undomained())) {
                continue;
            }
            String column = column(entry);
            stored.add(number("pg_catalog.pg_column_size(" + column + ")"));
            printed.add(number("pg_catalog.octet_length(pg_catalog.format('%s', " + column + "))"));
        }
        if (stored.isEmpty()) {
            return "false";
        }
        return "CASE WHEN " + String.join(PLUS, stored) + ABOVE + MEASURED_FROM + "::pg_catalog.int8 THEN "
                + String.join(PLUS, printed) + ABOVE + rowBytesMax + "::pg_catalog.int8 ELSE false END";
    }

    private static boolean isShort(PgType type) {
        return type instanceof PgType.Enumeration || SHORT.contains(type.oid());
    }

    private static String number(String size) {
        return "coalesce(" + size + ", 0)::pg_catalog.int8";
    }

    /// By the key, as far as the role may read it.
    private static String order(Relation relation, String role) {
        StringBuilder order = new StringBuilder();
        for (int attnum : relation.keyColumns()) {
            var column = relation.column(attnum);
            if (column == null || !relation.grants(role).covers(attnum)) {
                return "";
            }
            order.append(order.isEmpty() ? " ORDER BY " : ", ")
                    .append("sluice_row.")
                    .append(SqlText.identifier(column.name()));
        }
        return order.toString();
    }
}
