package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Function;
import sluice.core.datum.TextLikeType;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CitextFunctions;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// Functions that did not come with the server and run code that is known all the same: one of the server's own under
/// another name (`LANGUAGE internal`), or one of the library of `citext`. Their names decide nothing.
final class ExtensionFunctions {
    private ExtensionFunctions() {}

    /// With the argument types it declares, null when what it runs is not known.
    static @Nullable BuiltIn of(CatalogImage catalog, Function function) {
        List<Integer> asText = new ArrayList<>();
        for (int type : function.argumentTypes()) {
            asText.add(asText(catalog, type));
        }
        BuiltIn known = switch (function.language()) {
            case "internal" -> FunctionTable.find(function.source(), asText);
            case "c" -> CitextFunctions.find(function.source());
            default -> null;
        };
        boolean same = known != null
                && known.argumentTypes().equals(asText)
                && asText(catalog, function.returnType()) == known.resultType()
                && BuiltIns.isSame(known, function, function.returnType());
        return known == null || !same
                ? null
                : new BuiltIn(
                        known.symbol(),
                        function.argumentTypes(),
                        known.resultType(),
                        known.nulls(),
                        known.errors(),
                        known.collationUse(),
                        // in the order of the type's values, which such a type does not have
                        null,
                        known.body());
    }

    private static int asText(CatalogImage catalog, int type) {
        return catalog.type(type) instanceof PgType.TextLike ? Oid.TEXT : type;
    }

    /// Whether a function that declares this type takes a value of that one: a text of a user's
    /// type is not compared
    /// as part of something else, as its order is not known there.
    static boolean takes(int declared, ValueType<?> type) {
        ValueType<?> element = ValueTypes.element(type);
        boolean textLike = type instanceof TextLikeType || element instanceof TextLikeType;
        return !textLike || type.oid() == declared || declared == Oid.TEXT || declared == Oid.VARCHAR;
    }

    /// What a call is made under: those of `citext` ask the database's own for letters.
    static CollationRule collation(CatalogImage catalog, BuiltIn builtIn, int collationOid) throws NotCompilable {
        if (CitextFunctions.find(builtIn.symbol()) == null) {
            return BuiltIns.collation(catalog, collationOid);
        }
        CollationRule ofDatabase = BuiltIns.collation(catalog, Collation.DEFAULT_OID);
        if (!ofDatabase.allows(BuiltIn.CollationUse.CASE)) {
            throw new NotCompilable(Collations.obstacle(catalog, Collation.DEFAULT_OID, BuiltIn.CollationUse.CASE));
        }
        return ofDatabase;
    }
}
