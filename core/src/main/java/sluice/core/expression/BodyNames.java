package sluice.core.expression;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.expression.SqlTokens.Unproven;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// What the bare names and operators of a string body mean, by the types they are applied to (`parse_oper.c`,
/// `parse_func.c`).
///
/// PostgreSQL works that out each time the function is planned, among the server's own and whatever users have made.
/// So a name is known only where no operator, function, cast or type of a user could be meant by it, under any search
/// path; everything else is {@link Unproven}.
///
/// Types are oids; {@link #LITERAL} is a constant whose type is still open.
final class BodyNames {
    /// `unknown`.
    static final int LITERAL = 705;

    /// Functions of the server that are immutable in every overload.
    static final List<String> FUNCTIONS = List.of("lower", "upper", "btrim");

    /// The operators that are FALSE, TRUE or NULL.
    static final List<String> COMPARISONS = List.of("=", "<>", "<", ">", "<=", ">=");

    private static final Map<String, Integer> TYPES = types();

    /// From narrow to wide.
    private static final List<Integer> NUMBERS = List.of(Oid.INT2, Oid.INT4, Oid.INT8, Oid.NUMERIC);

    private static final List<Integer> TEXTS = List.of(Oid.TEXT, Oid.VARCHAR, Oid.NAME, LITERAL);

    private final CatalogImage catalog;
    private final Function function;

    /// @param function whose body is read
    BodyNames(CatalogImage catalog, Function function) {
        this.catalog = catalog;
        this.function = function;
    }

    /// Whether a name of a type has `[]` after it.
    enum Form {
        ONE,
        ARRAY
    }

    private static Map<String, Integer> types() {
        Map<String, Integer> types = new LinkedHashMap<>();
        types.put("text", Oid.TEXT);
        types.put("varchar", Oid.VARCHAR);
        types.put("uuid", Oid.UUID);
        types.put("json", Oid.JSON);
        types.put("jsonb", Oid.JSONB);
        types.put("numeric", Oid.NUMERIC);
        List.of("int2", "smallint").forEach(name -> types.put(name, Oid.INT2));
        List.of("int", "int4", "integer").forEach(name -> types.put(name, Oid.INT4));
        List.of("int8", "bigint").forEach(name -> types.put(name, Oid.INT8));
        List.of("bool", "boolean").forEach(name -> types.put(name, Oid.BOOL));
        return Collections.unmodifiableMap(types);
    }

    /// @param digits an unsigned number
    static int number(String digits) {
        try {
            long value = Long.parseLong(digits);
            return value <= Integer.MAX_VALUE ? Oid.INT4 : Oid.INT8;
        } catch (NumberFormatException _) {
            return Oid.NUMERIC;
        }
    }

    /// A type that a cast may name.
    int type(String name, Form form) {
        Integer oid = TYPES.get(name);
        if (oid == null) {
            throw new Unproven();
        }
        for (PgType type : catalog.dictionary().typesByOid().values()) {
            boolean ofUsers = Integer.compareUnsigned(type.oid(), BuiltIns.FIRST_USER_OID) >= 0;
            if (ofUsers && (type.name().endsWith("." + name) || type.name().endsWith(".\"" + name + "\""))) {
                throw new Unproven();
            }
        }
        if (form == Form.ONE) {
            return oid;
        }
        ValueType<?> element = ValueTypes.ofOid(oid);
        if (element == null || element.arrayOid() == 0) {
            throw new Unproven();
        }
        return element.arrayOid();
    }

    /// @param name `$1`
    int parameter(String name) {
        int number = name.length() > 4 ? 0 : Integer.parseInt(name.substring(1));
        if (number < 1 || number > function.argumentTypes().size()) {
            throw new Unproven();
        }
        int type = function.argumentTypes().get(number - 1);
        // What a polymorphic one stands for is up to the call.
        if (ValueTypes.of(catalog.type(type)) == null) {
            throw new Unproven();
        }
        return type;
    }

    /// A cast between the two, or the reading of a literal.
    int cast(int from, int to) {
        if (from != LITERAL && from != to && SqlTypes.castByUser(catalog, from, to)) {
            throw new Unproven();
        }
        return to;
    }

    /// What the function returns is cast as an assignment is.
    void returned(int result) {
        int type = result == LITERAL ? Oid.TEXT : result;
        int declared = function.returnType();
        boolean converted = Integer.compareUnsigned(declared, BuiltIns.FIRST_USER_OID) < 0
                && SqlTypes.readsAlike(catalog.type(declared))
                && !SqlTypes.castByUser(catalog, type, declared);
        if (type != declared && !converted) {
            throw new Unproven();
        }
    }

    /// What a call of a function that is proven by itself returns.
    int called(SqlBody.Call call) {
        for (Function candidate : catalog.dictionary().functionsByOid().values()) {
            if (candidate.schema().equals(call.schema()) && candidate.name().equals(call.name())) {
                return candidate.returnType();
            }
        }
        throw new Unproven();
    }

    /// A function of the server over texts, which returns a text.
    int function(String name, List<Integer> arguments) {
        for (Function candidate : catalog.dictionary().functionsByOid().values()) {
            if (candidate.name().equals(name) && !BuiltIns.ofTheServer(candidate)) {
                throw new Unproven();
            }
        }
        for (int argument : arguments) {
            if (!TEXTS.contains(argument)) {
                throw new Unproven();
            }
        }
        return Oid.TEXT;
    }

    /// `coalesce(...)`: the type all have in common.
    int common(List<Integer> arguments) {
        int common = LITERAL;
        for (int argument : arguments) {
            if (common == LITERAL || common == argument) {
                common = argument;
            } else if (NUMBERS.contains(common) && NUMBERS.contains(argument)) {
                common = NUMBERS.get(Math.max(NUMBERS.indexOf(common), NUMBERS.indexOf(argument)));
            } else if (argument != LITERAL) {
                throw new Unproven();
            }
        }
        if (arguments.isEmpty()) {
            throw new Unproven();
        }
        return common == LITERAL ? Oid.TEXT : common;
    }

    /// `nullif(left, right)` asks the operator `=`.
    int nullIf(List<Integer> arguments) {
        if (arguments.size() != 2) {
            throw new Unproven();
        }
        int left = arguments.getFirst();
        int ignored = operator("=", left, arguments.getLast());
        int type = left == LITERAL ? arguments.getLast() : left;
        return type == LITERAL ? Oid.TEXT : type;
    }

    /// The result of an operator of the server.
    int operator(String name, int left, int right) {
        if (left == LITERAL && right == LITERAL) {
            return converted(name, left, right);
        }
        // A literal next to a type is first tried as the same type.
        int exactLeft = left == LITERAL ? right : left;
        int exactRight = right == LITERAL ? left : right;
        boolean open = left == LITERAL || right == LITERAL;
        Operator exact = find(name, exactLeft, exactRight);
        if (exact != null) {
            if (madeByUser(name, exactLeft, exactRight)) {
                throw new Unproven();
            }
            return exact.resultType();
        }
        if (open) {
            return byKnownSide(name, left, right);
        }
        return converted(name, left, right);
    }

    /// With a literal on one side: among those that take the other side as it is, the one that takes a text.
    private int byKnownSide(String name, int left, int right) {
        Operator found = null;
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            boolean candidate = operator.name().equals(name)
                    && (left == LITERAL || operator.leftType() == left)
                    && (right == LITERAL || operator.rightType() == right);
            if (!candidate) {
                continue;
            }
            if (!ofTheServer(operator)) {
                throw new Unproven();
            }
            int other = left == LITERAL ? operator.leftType() : operator.rightType();
            if (found == null || other == Oid.TEXT) {
                found = operator;
            }
        }
        if (found == null) {
            return converted(name, left, right);
        }
        return found.resultType();
    }

    /// Where types are converted first, any operator of that name may be meant.
    private int converted(String name, int left, int right) {
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            if (operator.name().equals(name) && !ofTheServer(operator)) {
                throw new Unproven();
            }
        }
        if (COMPARISONS.contains(name)) {
            return Oid.BOOL;
        }
        if (name.equals("||") && (TEXTS.contains(left) || TEXTS.contains(right))) {
            return Oid.TEXT;
        }
        throw new Unproven();
    }

    private @Nullable Operator find(String name, int left, int right) {
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            if (ofTheServer(operator) && is(operator, name, left, right)) {
                return operator;
            }
        }
        return null;
    }

    private boolean madeByUser(String name, int left, int right) {
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            if (!ofTheServer(operator) && is(operator, name, left, right)) {
                return true;
            }
        }
        return false;
    }

    private static boolean is(Operator operator, String name, int left, int right) {
        return operator.name().equals(name) && operator.leftType() == left && operator.rightType() == right;
    }

    private static boolean ofTheServer(Operator operator) {
        return operator.schema().equals("pg_catalog")
                && Integer.compareUnsigned(operator.oid(), BuiltIns.FIRST_USER_OID) < 0;
    }
}
