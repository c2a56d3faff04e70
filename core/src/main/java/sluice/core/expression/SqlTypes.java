package sluice.core.expression;

import sluice.core.catalog.CatalogImage;
import sluice.core.value.Oid;

/// The types a row-free part may mention. Their text forms depend on no setting, so casts through text may be folded.
final class SqlTypes {
    private SqlTypes() {}

    /// The name to write, qualified so that no search path can turn it into another type.
    ///
    /// @throws NotCompilable naming the type
    static String name(CatalogImage catalog, int oid) throws NotCompilable {
        ValueType type = ValueType.ofOid(oid);
        if (type != null) {
            return "pg_catalog." + type.typeName();
        }
        ValueType element = ValueType.ofArrayOid(oid);
        if (element != null) {
            return "pg_catalog." + element.typeName() + "[]";
        }
        return switch (oid) {
            case Oid.JSON -> "pg_catalog.json";
            case Oid.JSONB -> "pg_catalog.jsonb";
            case Oid.NUMERIC -> "pg_catalog.numeric";
            case Oid.NAME -> "pg_catalog.name";
            default -> throw new NotCompilable("type \"" + catalog.type(oid).name() + "\" is not supported yet");
        };
    }
}
