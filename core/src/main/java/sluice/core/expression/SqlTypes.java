package sluice.core.expression;

import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// The types a row-free part may mention. Their text forms depend on nothing but
/// settings that every connection pins, so casts through text may be folded.
final class SqlTypes {
    private static final int INTERVAL = 1186;

    private static final List<Integer> ALIKE = List.of(
            Oid.BOOL,
            Oid.INT2,
            Oid.INT4,
            Oid.INT8,
            Oid.OID,
            Oid.NUMERIC,
            Oid.FLOAT4,
            Oid.FLOAT8,
            Oid.TEXT,
            Oid.VARCHAR,
            Oid.BPCHAR,
            Oid.NAME,
            Oid.UUID,
            Oid.BYTEA,
            Oid.JSON,
            Oid.JSONB,
            INTERVAL);

    private SqlTypes() {}

    /// The name to write, qualified so that no search path can turn it into another type.
    ///
    /// @throws NotCompilable naming the type
    static String name(CatalogImage catalog, int oid) throws NotCompilable {
        ValueType<?> type = ValueTypes.of(catalog.type(oid));
        if (type != null) {
            return type.sqlName();
        }
        return switch (oid) {
            case Oid.JSON -> "pg_catalog.json";
            case Oid.JSONB -> "pg_catalog.jsonb";
            case Oid.NUMERIC -> "pg_catalog.numeric";
            case Oid.NAME -> "pg_catalog.name";
            default -> throw new NotCompilable("type \"" + catalog.type(oid).name() + "\" is not supported yet");
        };
    }

    /// Whether a text is read as the same value of the type for ever: its input asks no clock (`now`, `today`), no
    /// setting and no table.
    static boolean readsAlike(PgType type) {
        return switch (type.undomained()) {
            case PgType.Array(var oid, var name, var element, var delimiter) -> readsAlike(element);
            case PgType.Enumeration ignored -> true;
            case PgType.TextLike ignored -> true;
            case PgType.Base(var oid, var name) -> ALIKE.contains(oid);
            case PgType.Composite ignored -> false;
            case PgType.Domain ignored -> false;
        };
    }

    /// Whether a user made a cast between the two types, or between their elements, that a text may mean.
    static boolean castByUser(CatalogImage catalog, int from, int to) {
        for (CatalogImage.Cast cast : catalog.dictionary().ownCasts()) {
            boolean source = cast.sourceType() == from || cast.sourceType() == elementOf(catalog, from);
            boolean target = cast.targetType() == to || cast.targetType() == elementOf(catalog, to);
            if (source && target) {
                return true;
            }
        }
        return false;
    }

    private static int elementOf(CatalogImage catalog, int type) {
        return catalog.type(type) instanceof PgType.Array(var oid, var name, var element, var delimiter)
                ? element.oid()
                : type;
    }
}
