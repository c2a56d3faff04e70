package sluice.server.postgres.query;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.server.postgres.query.Rows.Row;

/// Builds types from the rows of `pg_type`, `pg_attribute` and `pg_enum`. Used once, by one thread.
final class TypeAssembly {
    /// Nesting that no real schema reaches; PostgreSQL itself does not let a type contain itself.
    private static final int DEPTH_MAX = 64;

    private final Map<Integer, Row> rows = new LinkedHashMap<>();
    private final Map<Integer, List<Row>> attributesByType = new HashMap<>();
    private final Map<Integer, List<PgType.Label>> labelsByType = new HashMap<>();
    private final Map<Integer, PgType> built = new HashMap<>();

    void types(List<Row> types) {
        for (Row row : types) {
            rows.put(row.oid(0), row);
        }
    }

    void attributes(List<Row> attributes) {
        for (Row row : attributes) {
            attributesByType.computeIfAbsent(row.oid(0), _ -> new ArrayList<>()).add(row);
        }
    }

    void labels(List<Row> labels) {
        for (Row row : labels) {
            labelsByType
                    .computeIfAbsent(row.oid(0), _ -> new ArrayList<>())
                    .add(new PgType.Label(row.oid(1), row.text(2)));
        }
    }

    /// All types, in the order of their rows.
    Map<Integer, PgType> build() {
        Map<Integer, PgType> types = new LinkedHashMap<>();
        for (Integer oid : rows.keySet()) {
            types.put(oid, type(oid, 0));
        }
        return types;
    }

    private PgType type(int oid, int depth) {
        PgType known = built.get(oid);
        if (known != null) {
            return known;
        }
        Row row = rows.get(oid);
        if (row == null || depth > DEPTH_MAX) {
            return new PgType.Base(oid, "unknown");
        }
        PgType type = make(oid, row, depth);
        built.put(oid, type);
        return type;
    }

    private PgType make(int oid, Row row, int depth) {
        String name = row.text(1);
        int element = row.oid(3);
        // these two print without braces
        boolean vector = oid == Oid.INT2VECTOR || oid == Oid.OIDVECTOR;
        if (element != 0 && row.flag(6) && !vector) {
            Row elementRow = rows.get(element);
            char delimiter = elementRow == null ? row.letter(5) : elementRow.letter(5);
            return new PgType.Array(oid, name, type(element, depth + 1), delimiter);
        }
        return switch (row.letter(2)) {
            case 'd' -> new PgType.Domain(oid, name, type(row.oid(4), depth + 1));
            case 'e' -> new PgType.Enumeration(oid, name, labelsByType.getOrDefault(oid, List.of()));
            case 'c' -> composite(oid, name, depth);
            default -> row.flag(7) ? new PgType.TextLike(oid, name) : new PgType.Base(oid, name);
        };
    }

    private PgType composite(int oid, String name, int depth) {
        List<PgType.Attribute> attributes = new ArrayList<>();
        for (Row row : attributesByType.getOrDefault(oid, List.of())) {
            attributes.add(new PgType.Attribute(row.text(1), type(row.oid(2), depth + 1)));
        }
        return new PgType.Composite(oid, name, attributes);
    }
}
