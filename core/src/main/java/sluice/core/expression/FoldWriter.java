package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// Writes a row-free part back as SQL that means the same under every search path, and proves on the way that its
/// answer cannot go stale.
///
/// Every name is qualified, every constant carries its type, every operator is `OPERATOR(schema.name)`. A node it
/// does not know, or a function that is not proven safe, is not compilable.
///
/// Used for one part, on one thread, and thrown away.
final class FoldWriter {

    private final CatalogImage catalog;
    private final Map<Integer, String> pinned;
    private final FunctionSafety safety;
    private final List<String> caseOperands = new ArrayList<>();
    private boolean immutable = true;

    /// @param pinned values of columns that stand for the column itself, by attnum
    FoldWriter(CatalogImage catalog, Map<Integer, String> pinned) {
        this.catalog = catalog;
        this.pinned = pinned;
        this.safety = new FunctionSafety(catalog);
    }

    /// @throws NotCompilable with the first thing that stands in the way
    Fold write(Node.Struct node) throws NotCompilable {
        return new Fold(sql(node), TreeReading.typeOf(node));
    }

    /// When PostgreSQL would evaluate what was written.
    FoldTiming timing(Node.Struct node) {
        if (immutable) {
            return FoldTiming.WHILE_PLANNING;
        }
        return node.tag().equals("SUBLINK") ? FoldTiming.WHEN_REACHED : FoldTiming.WHILE_ESTIMATING;
    }

    private String sql(Node.Struct node) throws NotCompilable {
        return switch (node.tag()) {
            case "CONST" -> constant(node);
            case "VAR" -> pinnedColumn(node);
            case "FUNCEXPR" -> call(node);
            case "OPEXPR" -> operation(node);
            case "SCALARARRAYOPEXPR" -> quantified(node);
            case "BOOLEXPR" -> connective(node);
            case "NULLTEST" -> nullTest(node);
            case "BOOLEANTEST" -> truthTest(node);
            case "DISTINCTEXPR" -> distinct(node);
            case "NULLIFEXPR" -> nullIf(node);
            case "COALESCEEXPR" -> "COALESCE(" + list(node.list("args")) + ")";
            case "CASEEXPR" -> caseWhen(node);
            case "CASETESTEXPR" -> caseOperand(node);
            case "MINMAXEXPR" -> extreme(node);
            case "ARRAYEXPR" -> array(node);
            case "RELABELTYPE" -> relabelled(node.struct("arg"), node.integer("resulttype"));
            case "COERCEVIAIO" -> textCast(node.struct("arg"), node.integer("resulttype"));
            case "SQLVALUEFUNCTION" -> sessionValue(node);
            case "SUBLINK" -> scalarSelect(node);
            default -> throw new NotCompilable(ExpressionReader.described(node));
        };
    }

    private String constant(Node.Struct node) throws NotCompilable {
        int oid = node.integer("consttype");
        String typeName = SqlTypes.name(catalog, oid);
        if (node.flag("constisnull")) {
            return "NULL::" + typeName;
        }
        ValueType<?> type = ValueTypes.of(catalog.type(oid));
        if (type == null) {
            throw new NotCompilable("a constant of type \"" + catalog.type(oid).name() + "\" is not supported yet");
        }
        return literal(String.valueOf(TreeReading.constant(node, type))) + "::" + typeName;
    }

    private String pinnedColumn(Node.Struct node) throws NotCompilable {
        int attnum = node.integer("varattno");
        String text = node.integer("varlevelsup") == 0 ? pinned.get(attnum) : null;
        if (text == null) {
            throw new NotCompilable(ExpressionReader.described(node));
        }
        // A literal has the default collation, whatever the column has.
        int collation = node.integer("varcollid");
        if (collation != 0 && collation != Collation.DEFAULT_OID) {
            throw new NotCompilable("a column under a collation of its own");
        }
        return literal(text) + "::" + SqlTypes.name(catalog, node.integer("vartype"));
    }

    private String call(Node.Struct node) throws NotCompilable {
        if (node.flag("funcretset")) {
            throw new NotCompilable("a function returns a set");
        }
        List<Node.Struct> arguments = TreeReading.structs(node.list("args"));
        note(safety.check(node.integer("funcid"), arguments));
        Function function = catalog.function(node.integer("funcid"));
        if (function == null) {
            throw new NotCompilable("a function is not in the catalog that was read");
        }
        // What PostgreSQL adds for arguments left out is not in the tree, and was not looked at.
        if (!BuiltIns.ofTheServer(function)
                && arguments.size() != function.argumentTypes().size()) {
            throw new NotCompilable("a function is called with defaults");
        }
        List<String> written = new ArrayList<>();
        for (Node.Struct argument : arguments) {
            written.add(sql(argument));
        }
        if (node.flag("funcvariadic")) {
            written.set(written.size() - 1, "VARIADIC " + written.getLast());
        }
        return name(function.schema()) + "." + name(function.name()) + "(" + String.join(", ", written) + ")";
    }

    private String operation(Node.Struct node) throws NotCompilable {
        List<Node.Struct> arguments = TreeReading.structs(node.list("args"));
        String operator = operator(node);
        return switch (arguments.size()) {
            case 1 -> "(" + operator + " " + sql(arguments.getFirst()) + ")";
            case 2 -> "(" + sql(arguments.getFirst()) + " " + operator + " " + sql(arguments.getLast()) + ")";
            default -> throw new NotCompilable("an operator has " + arguments.size() + " arguments");
        };
    }

    private String quantified(Node.Struct node) throws NotCompilable {
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        String quantifier = node.flag("useOr") ? " ANY (" : " ALL (";
        return "(" + sql(arguments.getFirst()) + " " + operator(node) + quantifier + sql(arguments.getLast()) + "))";
    }

    private String operator(Node.Struct node) throws NotCompilable {
        Operator operator = TreeReading.operator(catalog, node);
        note(safety.check(operator.functionOid(), List.of()));
        return "OPERATOR(" + name(operator.schema()) + "." + operator.name() + ")";
    }

    /// NULLIF and IS DISTINCT FROM name no operator; PostgreSQL looks for `=` when it reads them.
    private void requireServersEquality(Node.Struct node) throws NotCompilable {
        Operator operator = TreeReading.operator(catalog, node);
        if (!operator.schema().equals("pg_catalog") || !operator.name().equals("=")) {
            throw new NotCompilable("a comparison uses an operator of a user");
        }
        note(safety.check(operator.functionOid(), List.of()));
    }

    private String distinct(Node.Struct node) throws NotCompilable {
        requireServersEquality(node);
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        return "(" + sql(arguments.getFirst()) + " IS DISTINCT FROM " + sql(arguments.getLast()) + ")";
    }

    private String nullIf(Node.Struct node) throws NotCompilable {
        requireServersEquality(node);
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        return "NULLIF(" + sql(arguments.getFirst()) + ", " + sql(arguments.getLast()) + ")";
    }

    private String connective(Node.Struct node) throws NotCompilable {
        List<String> arguments = new ArrayList<>();
        for (Node.Struct argument : TreeReading.structs(node.list("args"))) {
            arguments.add(sql(argument));
        }
        return switch (node.token("boolop")) {
            case "and" -> "(" + String.join(" AND ", arguments) + ")";
            case "or" -> "(" + String.join(" OR ", arguments) + ")";
            case "not" -> "(NOT " + String.join("", arguments) + ")";
            default -> throw new NotCompilable("a connective is not known");
        };
    }

    private String nullTest(Node.Struct node) throws NotCompilable {
        if (node.flag("argisrow")) {
            throw new NotCompilable("a null test of a row");
        }
        String suffix = switch (node.integer("nulltesttype")) {
            case 0 -> " IS NULL)";
            case 1 -> " IS NOT NULL)";
            default -> throw new NotCompilable("a null test is not known");
        };
        return "(" + sql(node.struct("arg")) + suffix;
    }

    private String truthTest(Node.Struct node) throws NotCompilable {
        Expression.TruthSense sense = ExpressionReader.truthSense(node);
        return "(" + sql(node.struct("arg")) + " " + sense.name().replace('_', ' ') + ")";
    }

    private String caseWhen(Node.Struct node) throws NotCompilable {
        boolean operand = !node.absent("arg");
        if (operand) {
            caseOperands.add(sql(node.struct("arg")));
        }
        StringBuilder sql = new StringBuilder("(CASE");
        for (Node.Struct when : TreeReading.structs(node.list("args"))) {
            sql.append(" WHEN ").append(sql(when.struct("expr")));
            sql.append(" THEN ").append(sql(when.struct("result")));
        }
        if (operand) {
            caseOperands.removeLast();
        }
        return sql.append(" ELSE ")
                .append(sql(node.struct("defresult")))
                .append(" END)")
                .toString();
    }

    /// What a CASE with an operand compares is written once for each condition.
    private String caseOperand(Node.Struct node) throws NotCompilable {
        if (caseOperands.isEmpty()) {
            throw new NotCompilable(ExpressionReader.described(node));
        }
        return caseOperands.getLast();
    }

    private String extreme(Node.Struct node) throws NotCompilable {
        String name = switch (node.integer("op")) {
            case 0 -> "GREATEST";
            case 1 -> "LEAST";
            default -> throw new NotCompilable(ExpressionReader.described(node));
        };
        return name + "(" + list(node.list("args")) + ")";
    }

    private String array(Node.Struct node) throws NotCompilable {
        if (node.flag("multidims")) {
            throw new NotCompilable("an array of several dimensions");
        }
        return "ARRAY[" + list(node.list("elements")) + "]::" + SqlTypes.name(catalog, node.integer("array_typeid"));
    }

    /// A user may have made another cast for a type of his own since.
    private String relabelled(Node.Struct argument, int type) throws NotCompilable {
        String written = cast(argument, type);
        if (TreeReading.typeOf(argument) != type && (ofUsers(type) || ofUsers(TreeReading.typeOf(argument)))) {
            throw new NotCompilable("a cast of type " + SqlTypes.name(catalog, type));
        }
        return written;
    }

    /// Written as a cast, it would be whatever cast a user has made since.
    private String textCast(Node.Struct argument, int type) throws NotCompilable {
        int from = TreeReading.typeOf(argument);
        if (ofUsers(type) || ofUsers(from) || SqlTypes.castByUser(catalog, from, type)) {
            throw new NotCompilable("a cast through text of type " + SqlTypes.name(catalog, type));
        }
        return cast(argument, type);
    }

    private static boolean ofUsers(int oid) {
        return Integer.compareUnsigned(oid, BuiltIns.FIRST_USER_OID) >= 0;
    }

    private String cast(Node.Struct argument, int type) throws NotCompilable {
        if (TreeReading.typeOf(argument) != type && !SqlTypes.readsAlike(catalog.type(type))) {
            throw new NotCompilable("a text may be read as another " + SqlTypes.name(catalog, type) + " tomorrow");
        }
        String source = SqlTypes.name(catalog, TreeReading.typeOf(argument));
        if (source.endsWith("[]")) {
            throw new NotCompilable("a cast of an array");
        }
        return "(" + sql(argument) + ")::" + SqlTypes.name(catalog, type);
    }

    /// `SQLValueFunctionOp` 9 to 11: the role. The others are the clock, the session's own user,
    /// or the search path.
    private String sessionValue(Node.Struct node) throws NotCompilable {
        immutable = false;
        return switch (node.integer("op")) {
            case 9 -> "CURRENT_ROLE";
            case 10 -> "CURRENT_USER";
            case 11 -> "USER";
            default -> throw new NotCompilable(ExpressionReader.described(node));
        };
    }

    private String scalarSelect(Node.Struct node) throws NotCompilable {
        Node.Struct target = TreeReading.scalarTarget(node);
        if (target == null) {
            throw new NotCompilable(ExpressionReader.described(node));
        }
        return "(SELECT " + sql(target) + ")";
    }

    private String list(List<Node> nodes) throws NotCompilable {
        List<String> written = new ArrayList<>();
        for (Node.Struct node : TreeReading.structs(nodes)) {
            written.add(sql(node));
        }
        return String.join(", ", written);
    }

    private void note(FunctionSafety.Safety answer) {
        immutable &= answer == FunctionSafety.Safety.IMMUTABLE;
    }

    /// A string constant that means the same whatever `standard_conforming_strings` says.
    static String literal(String text) {
        String quoted = "'" + text.replace("'", "''") + "'";
        return quoted.indexOf('\\') < 0 ? quoted : "E" + quoted.replace("\\", "\\\\");
    }

    private static String name(String identifier) {
        return "\"" + identifier.replace("\"", "\"\"") + "\"";
    }
}
