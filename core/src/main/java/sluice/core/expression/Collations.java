package sluice.core.expression;

import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.function.BuiltIn;

/// Says why an expression under a collation is not evaluated in process.
final class Collations {
    private Collations() {}

    static String obstacle(CatalogImage catalog, int collationOid, BuiltIn.CollationUse use) {
        Collation collation = catalog.collation(collationOid);
        String name = "collation \"" + (collation == null ? "unknown" : collation.name()) + "\"";
        return switch (use) {
            case NONE -> name;
            case EQUALITY -> name + " does not compare texts byte by byte";
            case ORDER -> name + " does not sort texts byte by byte";
            case CASE -> "the letters of " + name + " are not known";
        };
    }
}
