package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;
import sluice.core.function.Pseudo;

/// The built-in functions behind the oids of a catalog.
///
/// A function is known by what PostgreSQL runs, not by its name: a function of the server itself (in `pg_catalog`, an
/// oid that only initdb assigns), its C symbol (or the text of one that is written in SQL) and its argument types.
final class BuiltIns {
    /// `FirstNormalObjectId`: what users create, extensions included, starts here.
    static final int FIRST_USER_OID = 16384;

    private BuiltIns() {}

    /// The built-in behind a `pg_proc` oid, null when it is not evaluated in process.
    static @Nullable BuiltIn of(CatalogImage catalog, int functionOid) {
        Function function = catalog.function(functionOid);
        if (function == null) {
            return null;
        }
        if (!ofTheServer(function)) {
            return ExtensionFunctions.of(catalog, function);
        }
        BuiltIn builtIn = FunctionTable.find(function.source(), function.argumentTypes());
        return builtIn != null && isSame(builtIn, function, builtIn.resultType()) ? builtIn : null;
    }

    /// @param resultType what the function must say it returns
    static boolean isSame(BuiltIn builtIn, Function function, int resultType) {
        return resultType == function.returnType()
                && (builtIn.nulls() != BuiltIn.Nulls.CALLED) == (function.strictness() == Function.Strictness.STRICT)
                && function.volatility() != Function.Volatility.VOLATILE;
    }

    /// Whether initdb made the function, so that no user can have replaced what it does.
    static boolean ofTheServer(Function function) {
        return function.builtIn() && Integer.compareUnsigned(function.oid(), FIRST_USER_OID) < 0;
    }

    /// A call of a function with these arguments.
    ///
    /// @param resultOid the type the call has, which for a polymorphic function is not the declared one
    /// @param collationOid what the node names, 0 for none
    /// @throws NotCompilable when it is not evaluated in process, with these types or under this collation
    static Expression.Call call(
            CatalogImage catalog, int functionOid, int resultOid, int collationOid, List<Expression> arguments)
            throws NotCompilable {
        BuiltIn builtIn = of(catalog, functionOid);
        if (builtIn == null || !takesSoMany(builtIn, arguments.size())) {
            throw new NotCompilable(described(catalog, functionOid));
        }
        ValueType<?> result = ValueTypes.of(catalog.type(resultOid));
        if (result == null) {
            throw new NotCompilable("type \"" + catalog.type(resultOid).name() + "\" is not evaluated in process");
        }
        List<ValueType<?>> types = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            ValueType<?> type = arguments.get(i).type();
            types.add(type);
            int declared = builtIn.argumentTypes()
                    .get(Math.min(i, builtIn.argumentTypes().size() - 1));
            if (!PolymorphicTypes.accepts(declared, type)) {
                throw new NotCompilable(described(catalog, functionOid) + " is applied to types it does not take");
            }
            if (!FunctionTable.takes(builtIn, type) || !ExtensionFunctions.takes(declared, type)) {
                throw new NotCompilable(described(catalog, functionOid) + ": a value of type " + type);
            }
        }
        // A cast from int2 to oid is a call of int4(int2) that says it returns an oid, one from inet to varchar a call
        // of text(inet) that says it returns a varchar.
        if (!Pseudo.isPseudo(builtIn.resultType()) && !returns(builtIn, result)) {
            throw new NotCompilable(described(catalog, functionOid) + " is said to return another type");
        }
        requireCollation(catalog, builtIn, types, collationOid);
        CollationRule collation = ExtensionFunctions.collation(catalog, builtIn, collationOid);
        Expression.Call call = new Expression.Call(builtIn, new BuiltIn.CallSite(types, result, collation), arguments);
        requireConstantsToBeKnown(call);
        return call;
    }

    private static boolean returns(BuiltIn builtIn, ValueType<?> result) {
        ValueType<?> declared = ValueTypes.ofOid(builtIn.resultType());
        return declared != null && result.hasFormOf(declared);
    }

    /// Whether the last argument of a function is `VARIADIC "any"`: each argument of a call is one of its own.
    static boolean isVariadicAny(BuiltIn builtIn) {
        return !builtIn.argumentTypes().isEmpty() && builtIn.argumentTypes().getLast() == Pseudo.ANY;
    }

    private static boolean takesSoMany(BuiltIn builtIn, int count) {
        int declared = builtIn.argumentTypes().size();
        return isVariadicAny(builtIn) ? count >= declared : count == declared;
    }

    /// PostgreSQL evaluates a call of constants while it plans: one that raises fails every query, reached or not.
    /// That is noticed with the answers; what is not known here may be such a one.
    private static void requireConstantsToBeKnown(Expression.Call call) throws NotCompilable {
        if (Parts.isConstant(call) && Answers.settled(call) instanceof Expression.Call) {
            throw new NotCompilable("a part that is constant is not known here");
        }
    }

    /// Of no collation nothing is known: PostgreSQL raises where it needs one and cannot tell which.
    static CollationRule collation(CatalogImage catalog, int collationOid) {
        return CollationRule.of(catalog.collation(collationOid));
    }

    private static void requireCollation(
            CatalogImage catalog, BuiltIn builtIn, List<ValueType<?>> types, int collationOid) throws NotCompilable {
        boolean collatable = false;
        for (ValueType<?> type : types) {
            collatable |= type.collatable();
        }
        if (collatable && !collation(catalog, collationOid).allows(builtIn.collationUse())) {
            throw new NotCompilable(Collations.obstacle(catalog, collationOid, builtIn.collationUse()));
        }
    }

    static String described(CatalogImage catalog, int functionOid) {
        Function function = catalog.function(functionOid);
        return function == null
                ? "a function is not in the catalog that was read"
                : "function \"" + function.schema() + "." + function.name() + "\" on these types";
    }
}
