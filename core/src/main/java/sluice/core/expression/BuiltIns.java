package sluice.core.expression;

import static sluice.core.expression.ValueType.BOOL;
import static sluice.core.expression.ValueType.INT2;
import static sluice.core.expression.ValueType.INT4;
import static sluice.core.expression.ValueType.INT8;
import static sluice.core.expression.ValueType.TEXT;
import static sluice.core.expression.ValueType.UUID;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;

/// The functions decided in process: the table to add a line to.
///
/// A function is known by what PostgreSQL runs, not by its name: a function of the server itself (language
/// `internal`, an oid that only initdb assigns), its C symbol and its argument types.
final class BuiltIns {
    /// `FirstNormalObjectId`: what users create, extensions included, starts here.
    static final int FIRST_USER_OID = 16384;

    private static final Map<String, BuiltIn> BY_SYMBOL = new HashMap<>();

    static {
        ordered("int2", INT2, INT2);
        ordered("int4", INT4, INT4);
        ordered("int8", INT8, INT8);
        ordered("int24", INT2, INT4);
        ordered("int42", INT4, INT2);
        ordered("int28", INT2, INT8);
        ordered("int82", INT8, INT2);
        ordered("int48", INT4, INT8);
        ordered("int84", INT8, INT4);
        comparison("texteq", TEXT, TEXT, ComparisonKind.EQUAL);
        comparison("textne", TEXT, TEXT, ComparisonKind.NOT_EQUAL);
        comparison("booleq", BOOL, BOOL, ComparisonKind.EQUAL);
        comparison("boolne", BOOL, BOOL, ComparisonKind.NOT_EQUAL);
        ordered("uuid_", UUID, UUID);
        widening("i2toi4", INT2, INT4);
        widening("int28", INT2, INT8);
        widening("int48", INT4, INT8);
    }

    private BuiltIns() {}

    /// A function this package evaluates itself.
    sealed interface BuiltIn {
        List<ValueType> arguments();

        /// A strict comparison of two values.
        record Compares(ComparisonKind kind, List<ValueType> arguments) implements BuiltIn {}

        /// A cast that changes the type and not the value.
        record Widens(ValueType result, List<ValueType> arguments) implements BuiltIn {}
    }

    /// The built-in behind a `pg_proc` oid, null when it is not one of the table.
    static @Nullable BuiltIn of(CatalogImage catalog, int functionOid) {
        Function function = catalog.function(functionOid);
        if (function == null || !ofTheServer(function) || !function.language().equals("internal")) {
            return null;
        }
        BuiltIn builtIn = BY_SYMBOL.get(function.source());
        return builtIn != null && takes(function, builtIn.arguments()) ? builtIn : null;
    }

    /// The comparison behind a `pg_operator` oid, null when it is not one of the table.
    static BuiltIn.@Nullable Compares comparison(CatalogImage catalog, int operatorOid) {
        Operator operator = catalog.operator(operatorOid);
        return operator != null && of(catalog, operator.functionOid()) instanceof BuiltIn.Compares comparison
                ? comparison
                : null;
    }

    /// Whether initdb made the function, so that no user can have replaced what it does.
    static boolean ofTheServer(Function function) {
        return function.builtIn() && Integer.compareUnsigned(function.oid(), FIRST_USER_OID) < 0;
    }

    private static boolean takes(Function function, List<ValueType> arguments) {
        if (function.argumentTypes().size() != arguments.size()) {
            return false;
        }
        for (int i = 0; i < arguments.size(); i++) {
            if (function.argumentTypes().get(i) != arguments.get(i).oid()) {
                return false;
            }
        }
        return true;
    }

    private static void ordered(String prefix, ValueType left, ValueType right) {
        comparison(prefix + "eq", left, right, ComparisonKind.EQUAL);
        comparison(prefix + "ne", left, right, ComparisonKind.NOT_EQUAL);
        comparison(prefix + "lt", left, right, ComparisonKind.LESS);
        comparison(prefix + "le", left, right, ComparisonKind.LESS_OR_EQUAL);
        comparison(prefix + "gt", left, right, ComparisonKind.GREATER);
        comparison(prefix + "ge", left, right, ComparisonKind.GREATER_OR_EQUAL);
    }

    private static void comparison(String symbol, ValueType left, ValueType right, ComparisonKind kind) {
        BY_SYMBOL.put(symbol, new BuiltIn.Compares(kind, List.of(left, right)));
    }

    private static void widening(String symbol, ValueType from, ValueType to) {
        BY_SYMBOL.put(symbol, new BuiltIn.Widens(to, List.of(from)));
    }
}
