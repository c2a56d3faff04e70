package sluice.core.expression;

import sluice.core.catalog.CatalogImage;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Oid;

/// The types a row-free part may mention. Their text forms depend on nothing but
/// settings that every connection pins, so casts through text may be folded.
final class SqlTypes {
    private static final int TIME = 1083;
    private static final int TIMETZ = 1266;

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

    /// Whether reading a text as the type may ask the clock: `now`, `today` and the like.
    static boolean readsClock(int oid) {
        return switch (oid) {
            case Oid.DATE, Oid.TIMESTAMP, Oid.TIMESTAMPTZ, TIME, TIMETZ -> true;
            default -> false;
        };
    }
}
