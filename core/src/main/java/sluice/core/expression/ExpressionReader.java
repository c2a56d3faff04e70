package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;

/// Understands a policy's tree as an {@link Expression} over the rows of its table.
///
/// Every maximal part without a column becomes a fold, for PostgreSQL to evaluate under the caller. What is neither
/// foldable nor of the registered kind is {@link Expression.Unsupported} with its reason; nothing is guessed.
///
/// Used for one policy, on one thread.
public final class ExpressionReader {
    private static final List<String> TEXT_CASTS = List.of("COERCEVIAIO");
    /// A parameter of a body stands for an argument that may read the row.
    private static final List<String> ROW_NODES = List.of("VAR", "PARAM");

    /// `SQLValueFunctionOp` without a precision: CURRENT_DATE, CURRENT_TIMESTAMP, LOCALTIMESTAMP.
    private static final List<Integer> CLOCKS = List.of(0, 3, 7);

    private final CatalogImage catalog;
    private final Relation relation;
    private final Map<Integer, String> pinned;
    private final FoldList folds;
    private final String subject;
    private final Operators operators;

    /// What `CASETESTEXPR` stands for, innermost last.
    private final List<Expression> caseOperands = new ArrayList<>();

    /// What the parameters of the bodies being read stand for, innermost last.
    private final List<List<Expression>> parameters = new ArrayList<>();

    /// Sub-selects around what is read: a column of the table is so many queries out.
    private int depth;

    /// @param pinned the text of columns the shape pins to a value, by attnum
    /// @param folds takes what PostgreSQL must be asked
    /// @param subject what is read, as reasons name it: `policy "p"`
    public ExpressionReader(
            CatalogImage catalog, Relation relation, Map<Integer, String> pinned, FoldList folds, String subject) {
        this.catalog = catalog;
        this.relation = relation;
        this.pinned = pinned;
        this.folds = folds;
        this.subject = subject;
        this.operators = new Operators(catalog);
    }

    public Expression read(PolicyTree tree) {
        try {
            return truth(TreeReading.struct(tree.root()));
        } catch (NotCompilable obstacle) {
            return unsupported(obstacle.reason());
        } catch (NodeTreeException unknownForm) {
            return unsupported(unknownForm.getMessage());
        }
    }

    private Expression unsupported(String obstacle) {
        return new Expression.Unsupported(subject + " is not evaluated in process: " + obstacle);
    }

    /// One argument of an AND or OR: the others may decide without it.
    private Expression argument(Node.Struct node) {
        try {
            return truth(node);
        } catch (NotCompilable obstacle) {
            return unsupported(obstacle.reason());
        }
    }

    private Expression truth(Node.Struct node) throws NotCompilable {
        Expression expression = value(node);
        if (!expression.type().equals(ValueTypes.BOOL)) {
            throw new NotCompilable("an expression is not a boolean");
        }
        return expression;
    }

    private Expression value(Node.Struct node) throws NotCompilable {
        if (node.tag().equals("CONST")) {
            return constant(node);
        }
        if (TreeReading.contains(node, ROW_NODES)) {
            return decidedOrFolded(node);
        }
        try {
            return fold(node);
        } catch (NotCompilable obstacle) {
            return decidedAfter(obstacle, node);
        }
    }

    /// A part that reads a column: decided for each row, unless the shape pins all its columns and only PostgreSQL
    /// knows how.
    private Expression decidedOrFolded(Node.Struct node) throws NotCompilable {
        try {
            return decided(node);
        } catch (NotCompilable obstacle) {
            if (readsOnlyPinned(node)) {
                return fold(node);
            }
            throw obstacle;
        }
    }

    /// A part without a column that must not be asked once and for all, such as one that reads the clock.
    private Expression decidedAfter(NotCompilable obstacle, Node.Struct node) throws NotCompilable {
        try {
            Expression decided = decided(node);
            // PostgreSQL may evaluate it while it plans, and then fail whole queries.
            if (Parts.readsText(decided)) {
                throw obstacle;
            }
            return decided;
        } catch (NotCompilable _) {
            // What kept it from being asked is the better reason.
            throw obstacle;
        }
    }

    private Expression decided(Node.Struct node) throws NotCompilable {
        return switch (node.tag()) {
            case "VAR" -> column(node);
            case "BOOLEXPR" -> connective(node);
            case "NULLTEST" -> nullTest(node);
            case "BOOLEANTEST" -> new Expression.TruthTest(truth(node.struct("arg")), truthSense(node));
            case "OPEXPR" -> operation(node);
            case "DISTINCTEXPR" -> {
                List<Expression> sides = values(node, 2);
                yield new Expression.Distinct(equality(node, sides), sides.getFirst(), sides.getLast());
            }
            case "NULLIFEXPR" -> {
                List<Expression> sides = values(node, 2);
                yield new Expression.NullIf(equality(node, sides), sides.getFirst(), sides.getLast());
            }
            case "SCALARARRAYOPEXPR" -> quantified(node);
            case "ROWCOMPAREEXPR" -> rowComparison(node);
            case "FUNCEXPR" -> call(node);
            case "RELABELTYPE" -> relabelled(node);
            case "ARRAYCOERCEEXPR" -> arrayCast(node);
            case "COLLATEEXPR" -> value(node.struct("arg"));
            case "COERCEVIAIO" -> textCast(node);
            case "CASEEXPR" -> choice(node);
            case "CASETESTEXPR" -> caseOperand();
            case "COALESCEEXPR" -> Planned.coalesce(sameType(valuesOf(node.list("args"))));
            case "MINMAXEXPR" -> extreme(node);
            case "ARRAYEXPR" -> array(node);
            case "SUBSCRIPTINGREF" -> element(node);
            case "SUBLINK" -> scalarSelect(node);
            case "PARAM" -> parameter(node);
            case "SQLVALUEFUNCTION" -> clock(node, node.integer("type"), CLOCKS.contains(node.integer("op")));
            default -> throw new NotCompilable(described(node));
        };
    }

    private Expression fold(Node.Struct node) throws NotCompilable {
        FoldWriter writer = new FoldWriter(catalog, pinned);
        Fold fold = writer.write(node);
        ValueType<?> type = typeOf(fold.typeOid());
        return new Expression.Folded(added(fold), type, writer.timing(node));
    }

    private int added(Fold fold) throws NotCompilable {
        int index = folds.add(fold);
        if (index < 0) {
            throw new NotCompilable("more than " + FoldList.COUNT_MAX + " row-free parts");
        }
        return index;
    }

    private ValueType<?> typeOf(int oid) throws NotCompilable {
        ValueType<?> type = ValueTypes.of(catalog.type(oid));
        if (type == null) {
            throw new NotCompilable("a value of type \"" + catalog.type(oid).name() + "\" is not compared in process");
        }
        return type;
    }

    private Expression constant(Node.Struct node) throws NotCompilable {
        ValueType<?> type = typeOf(node.integer("consttype"));
        try {
            return Answers.constant(type, TreeReading.constant(node, type));
        } catch (IllegalArgumentException _) {
            throw new NotCompilable("a constant of type " + type + " is beyond what is read here");
        }
    }

    private Expression column(Node.Struct node) throws NotCompilable {
        if (node.integer("varno") != 1 || node.integer("varlevelsup") != depth || returningOldOrNew(node)) {
            throw new NotCompilable("a column of another table");
        }
        Column column = relation.column(node.integer("varattno"));
        if (column == null || column.typeOid() != node.integer("vartype")) {
            throw new NotCompilable(
                    "a system column, a whole row, or a column that is not in the catalog that was read");
        }
        ValueType<?> type = ValueTypes.of(catalog.type(column.typeOid()));
        if (type == null) {
            throw new NotCompilable("column \"" + column.name() + "\" has type \""
                    + catalog.type(column.typeOid()).name() + "\", which is not compared in process");
        }
        if (inTheLog(column)) {
            return new Expression.ColumnValue(column.attnum(), type);
        }
        String generation = column.generationTree();
        if (generation == null) {
            throw new NotCompilable("column \"" + column.name() + "\" is generated or not published");
        }
        return generated(column, generation, type);
    }

    /// A generated column that the log does not carry follows from those it does: what makes it may change with
    /// nothing else.
    private Expression generated(Column column, String tree, ValueType<?> type) throws NotCompilable {
        int outer = depth;
        depth = 0;
        try {
            Node.Struct root = TreeReading.struct(NodeTree.read(tree));
            if (TreeReading.contains(root, TEXT_CASTS)) {
                throw new NotCompilable("it is made of a text that depends on the writer's session");
            }
            Expression value = value(root);
            if (!value.type().equals(type)) {
                throw new NotCompilable("it is made as another type");
            }
            return value;
        } catch (NotCompilable obstacle) {
            throw new NotCompilable("column \"" + column.name() + "\" is generated: " + obstacle.reason());
        } finally {
            depth = outer;
        }
    }

    /// `(select expression)` over columns of the row: the expression, when it is reached.
    private Expression scalarSelect(Node.Struct node) throws NotCompilable {
        Node.Struct target = TreeReading.scalarTarget(node);
        if (target == null) {
            throw new NotCompilable(described(node));
        }
        depth++;
        try {
            return value(target);
        } finally {
            depth--;
        }
    }

    private Expression parameter(Node.Struct node) throws NotCompilable {
        int number = node.integer("paramid");
        boolean known = !parameters.isEmpty() && node.integer("paramkind") == 0;
        if (!known || number < 1 || number > parameters.getLast().size()) {
            throw new NotCompilable(described(node));
        }
        Expression argument = parameters.getLast().get(number - 1);
        if (argument.type().oid() != node.integer("paramtype")) {
            throw new NotCompilable("an argument has another type than its parameter");
        }
        return argument;
    }

    /// A call of one of the server's own functions that are written in SQL, read as what it says.
    private Expression inlined(ServerBodies.Body body, List<Expression> arguments) throws NotCompilable {
        if (parameters.size() == ServerBodies.DEPTH_MAX) {
            throw new NotCompilable("functions call functions too deep");
        }
        parameters.add(arguments);
        try {
            return body.called(arguments, value(body.target()));
        } finally {
            parameters.removeLast();
        }
    }

    private static boolean returningOldOrNew(Node.Struct node) {
        return node.fields().containsKey("varreturningtype") && node.integer("varreturningtype") != 0;
    }

    private boolean inTheLog(Column column) {
        PublishedTable published = relation.published();
        List<String> listed = published == null ? null : published.columns();
        return switch (column.generation()) {
            case NONE -> listed == null || listed.contains(column.name());
            case STORED -> listed != null && listed.contains(column.name());
            case VIRTUAL -> false;
        };
    }

    private Expression connective(Node.Struct node) throws NotCompilable {
        List<Expression> arguments = new ArrayList<>();
        for (Node.Struct argument : TreeReading.structs(node.list("args"))) {
            arguments.add(argument(argument));
        }
        return switch (node.token("boolop")) {
            case "and" -> Connectives.and(arguments);
            case "or" -> Connectives.or(arguments);
            case "not" -> {
                if (arguments.size() != 1) {
                    throw new NotCompilable("NOT has " + arguments.size() + " arguments");
                }
                yield new Expression.Not(arguments.getFirst());
            }
            default -> throw new NotCompilable("a connective is not known");
        };
    }

    private Expression nullTest(Node.Struct node) throws NotCompilable {
        if (node.flag("argisrow")) {
            throw new NotCompilable("a null test of a row");
        }
        Expression argument = value(node.struct("arg"));
        return switch (node.integer("nulltesttype")) {
            case 0 -> new Expression.NullTest(argument, Expression.NullSense.IS_NULL);
            case 1 -> new Expression.NullTest(argument, Expression.NullSense.IS_NOT_NULL);
            default -> throw new NotCompilable("a null test is not known");
        };
    }

    static Expression.TruthSense truthSense(Node.Struct node) throws NotCompilable {
        int type = node.integer("booltesttype");
        Expression.TruthSense[] senses = Expression.TruthSense.values();
        if (type < 0 || type >= senses.length) {
            throw new NotCompilable("a boolean test is not known");
        }
        return senses[type];
    }

    private List<Expression> values(Node.Struct node, int count) throws NotCompilable {
        List<Expression> values = new ArrayList<>();
        for (Node.Struct argument : TreeReading.arguments(node, count)) {
            values.add(value(argument));
        }
        return values;
    }

    private List<Expression> valuesOf(List<Node> nodes) throws NotCompilable {
        List<Expression> values = new ArrayList<>();
        for (Node.Struct argument : TreeReading.structs(nodes)) {
            values.add(value(argument));
        }
        return values;
    }

    private Expression operation(Node.Struct node) throws NotCompilable {
        Operator operator = TreeReading.operator(catalog, node);
        List<Expression> arguments = valuesOf(node.list("args"));
        ServerBodies.Body body = ServerBodies.of(catalog, operator.functionOid());
        if (body != null && BuiltIns.of(catalog, operator.functionOid()) == null) {
            return inlined(body, arguments);
        }
        return Planned.applied(
                operators.apply(operator, node.integer("opresulttype"), node.integer("inputcollid"), arguments));
    }

    private Expression.Operation equality(Node.Struct node, List<Expression> sides) throws NotCompilable {
        return operators.operation(TreeReading.operator(catalog, node), node.integer("inputcollid"), sides);
    }

    private Expression quantified(Node.Struct node) throws NotCompilable {
        Operator operator = TreeReading.operator(catalog, node);
        List<Expression> sides = values(node, 2);
        Expression.Quantifier quantifier = node.flag("useOr") ? Expression.Quantifier.ANY : Expression.Quantifier.ALL;
        return operators.quantified(operator, node.integer("inputcollid"), quantifier, sides);
    }

    private Expression rowComparison(Node.Struct node) throws NotCompilable {
        List<Expression> left = valuesOf(node.list("largs"));
        List<Expression> right = valuesOf(node.list("rargs"));
        int kind = node.fields().containsKey("cmptype") ? node.integer("cmptype") : node.integer("rctype");
        return operators.rows(
                kind, TreeReading.oids(node, "opnos"), TreeReading.oids(node, "inputcollids"), left, right);
    }

    private Expression call(Node.Struct node) throws NotCompilable {
        Function function = catalog.function(node.integer("funcid"));
        if (function != null && function.source().equals("now") && BuiltIns.ofTheServer(function)) {
            return clock(node, node.integer("funcresulttype"), true);
        }
        if (node.flag("funcretset")) {
            throw new NotCompilable("a function returns a set");
        }
        BuiltIn builtIn = BuiltIns.of(catalog, node.integer("funcid"));
        if (node.flag("funcvariadic") && builtIn != null && BuiltIns.isVariadicAny(builtIn)) {
            throw new NotCompilable("a function is given an array in the place of its arguments");
        }
        if (function != null && Concatenations.isConcat(function) && !node.flag("funcvariadic")) {
            return concatenation(node);
        }
        List<Expression> arguments = valuesOf(node.list("args"));
        ServerBodies.Body body = ServerBodies.of(catalog, node.integer("funcid"));
        if (body != null && builtIn == null) {
            return inlined(body, arguments);
        }
        return Planned.applied(BuiltIns.call(
                catalog,
                node.integer("funcid"),
                node.integer("funcresulttype"),
                node.integer("inputcollid"),
                arguments));
    }

    private Expression concatenation(Node.Struct node) throws NotCompilable {
        List<Expression> arguments = new ArrayList<>();
        for (Node.Struct argument : TreeReading.structs(node.list("args"))) {
            Expression literal = Concatenations.literal(argument);
            arguments.add(literal != null ? literal : value(argument));
        }
        return Concatenations.of(arguments);
    }

    private Expression clock(Node.Struct node, int typeOid, boolean known) throws NotCompilable {
        ValueType<?> type = ValueTypes.ofOid(typeOid);
        if (!known || type == null || !ClockText.knows(typeOid)) {
            throw new NotCompilable(described(node));
        }
        return new Expression.Clock(type);
    }

    /// A cast between types whose values have the same form, or from a domain to its base.
    private Expression relabelled(Node.Struct node) throws NotCompilable {
        return recast(node, value(node.struct("arg")), typeOf(node.integer("resulttype")));
    }

    private static Expression recast(Node.Struct node, Expression argument, ValueType<?> type) throws NotCompilable {
        if (argument.type().equals(type)) {
            return argument;
        }
        if (!type.hasFormOf(argument.type())) {
            throw new NotCompilable(described(node));
        }
        if (argument instanceof Expression.ColumnValue(var attnum, var from)) {
            return new Expression.ColumnValue(attnum, type);
        }
        if (argument instanceof Expression.Constant(var from, var text)) {
            return new Expression.Constant(type, text);
        }
        return argument instanceof Expression.Folded(var index, var from, var timing)
                ? new Expression.Folded(index, type, timing)
                : new Expression.Recast(argument, type);
    }

    /// `varchar[]` as `text[]`: the elements are the same.
    private Expression arrayCast(Node.Struct node) throws NotCompilable {
        Node.Struct each = node.struct("elemexpr");
        if (!each.tag().equals("RELABELTYPE") || !each.struct("arg").tag().equals("CASETESTEXPR")) {
            throw new NotCompilable(described(node));
        }
        return recast(node, value(node.struct("arg")), typeOf(node.integer("resulttype")));
    }

    /// A cast through the text form. What the log has of a column is that text.
    private Expression textCast(Node.Struct node) throws NotCompilable {
        Expression argument = value(node.struct("arg"));
        ValueType<?> type = typeOf(node.integer("resulttype"));
        Expression.TextCast cast = new Expression.TextCast(argument, type);
        if (!cast.prints() && !type.readsText()) {
            throw new NotCompilable("a cast from text to type " + type);
        }
        return cast.prints() && argument instanceof Expression.ColumnValue(var attnum, var from)
                ? new Expression.ColumnValue(attnum, type)
                : cast;
    }

    private Expression choice(Node.Struct node) throws NotCompilable {
        boolean operand = !node.absent("arg");
        if (operand) {
            caseOperands.add(value(node.struct("arg")));
        }
        List<Expression> conditions = new ArrayList<>();
        List<Expression> results = new ArrayList<>();
        for (Node.Struct when : TreeReading.structs(node.list("args"))) {
            conditions.add(truth(when.struct("expr")));
            results.add(value(when.struct("result")));
        }
        if (operand) {
            caseOperands.removeLast();
        }
        Expression otherwise = value(node.struct("defresult"));
        List<Expression> branches = new ArrayList<>(results);
        branches.add(otherwise);
        List<Expression> checked = sameType(branches);
        return Planned.choice(conditions, checked.subList(0, checked.size() - 1), checked.getLast());
    }

    private Expression caseOperand() throws NotCompilable {
        if (caseOperands.isEmpty()) {
            throw new NotCompilable("a value that stands for another");
        }
        return caseOperands.getLast();
    }

    /// Branches PostgreSQL has given one type.
    private static List<Expression> sameType(List<Expression> branches) throws NotCompilable {
        for (Expression branch : branches) {
            if (!branch.type().equals(branches.getFirst().type())) {
                throw new NotCompilable("the branches of an expression have different types");
            }
        }
        if (branches.isEmpty()) {
            throw new NotCompilable("an expression has no arguments");
        }
        return branches;
    }

    private Expression extreme(Node.Struct node) throws NotCompilable {
        List<Expression> arguments = sameType(valuesOf(node.list("args")));
        operators.requireOrder(arguments.getFirst().type(), node.integer("inputcollid"));
        return switch (node.integer("op")) {
            case 0 -> new Expression.Extreme(Expression.Side.GREATEST, arguments);
            case 1 -> new Expression.Extreme(Expression.Side.LEAST, arguments);
            default -> throw new NotCompilable(described(node));
        };
    }

    private Expression array(Node.Struct node) throws NotCompilable {
        if (node.flag("multidims")) {
            throw new NotCompilable("an array of several dimensions");
        }
        return new Expression.ArrayOf(valuesOf(node.list("elements")), typeOf(node.integer("array_typeid")));
    }

    private Expression element(Node.Struct node) throws NotCompilable {
        Expression container = value(node.struct("refexpr"));
        if (container.type().oid() == JsonSubscripts.JSONB) {
            return JsonSubscripts.of(catalog, node, container, valuesOf(node.list("refupperindexpr")));
        }
        ValueType<?> element = ValueTypes.element(container.type());
        boolean plain = node.absent("reflowerindexpr") && node.absent("refassgnexpr");
        if (element == null || !plain) {
            throw new NotCompilable("a slice, or a part of something that is no array");
        }
        List<Expression> subscripts = valuesOf(node.list("refupperindexpr"));
        for (Expression subscript : subscripts) {
            if (!subscript.type().equals(ValueTypes.INT4)) {
                throw new NotCompilable("a subscript is not an integer");
            }
        }
        return new Expression.Element(container, subscripts, element);
    }

    private boolean readsOnlyPinned(Node node) {
        return switch (node) {
            case Node.Struct struct -> {
                boolean only = !struct.tag().equals("VAR") || isPinned(struct);
                for (Node field : struct.fields().values()) {
                    only = only && readsOnlyPinned(field);
                }
                yield only;
            }
            case Node.Sequence(var items) -> {
                boolean only = true;
                for (Node item : items) {
                    only = only && readsOnlyPinned(item);
                }
                yield only;
            }
            case Node.Token ignored -> true;
            case Node.Quoted ignored -> true;
            case Node.Absent ignored -> true;
            case Node.Datum ignored -> true;
        };
    }

    private boolean isPinned(Node.Struct column) {
        return column.integer("varno") == 1
                && column.integer("varlevelsup") == 0
                && pinned.containsKey(column.integer("varattno"));
    }

    /// What a node is, in words for a reason.
    static String described(Node.Struct node) {
        return switch (node.tag()) {
            case "SUBLINK" -> "a sub-select";
            case "OPEXPR", "SCALARARRAYOPEXPR", "DISTINCTEXPR" -> "operator";
            case "CASEEXPR" -> "CASE over columns";
            case "COALESCEEXPR" -> "COALESCE over columns";
            case "RELABELTYPE", "COERCEVIAIO", "COERCETODOMAIN", "ARRAYCOERCEEXPR" ->
                "a cast that is not supported yet";
            case "SQLVALUEFUNCTION" -> "the clock or a value of the session";
            default -> "an expression of kind " + node.tag();
        };
    }
}
