package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;

/// Understands a policy's tree as an {@link Expression} over the rows of its table.
///
/// Every maximal part without a column becomes a fold, for PostgreSQL to evaluate under the caller. What is neither
/// foldable nor of the registered kind is {@link Expression.Unsupported} with its reason; nothing is guessed.
///
/// Used for one policy, on one thread.
public final class ExpressionReader {
    private static final List<String> COLUMN_NODES = List.of("VAR");

    private final CatalogImage catalog;
    private final Relation relation;
    private final Map<Integer, String> pinned;
    private final FoldList folds;
    private final String subject;

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
        if (expression.type() != ValueType.BOOL) {
            throw new NotCompilable("an expression is not a boolean");
        }
        return expression;
    }

    private Expression value(Node.Struct node) throws NotCompilable {
        if (node.tag().equals("CONST")) {
            return constant(node);
        }
        if (!TreeReading.contains(node, COLUMN_NODES)) {
            try {
                return fold(node);
            } catch (NotCompilable obstacle) {
                // A connective can still be decided by the arguments that are understood.
                if (node.tag().equals("BOOLEXPR")) {
                    return connective(node);
                }
                throw obstacle;
            }
        }
        try {
            return decided(node);
        } catch (NotCompilable obstacle) {
            if (readsOnlyPinned(node)) {
                return fold(node);
            }
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
            case "DISTINCTEXPR" -> distinct(node);
            case "SCALARARRAYOPEXPR" -> quantified(node);
            case "FUNCEXPR" -> call(node);
            case "RELABELTYPE" -> relabelled(node);
            case "COLLATEEXPR" -> value(node.struct("arg"));
            case "COERCEVIAIO" -> asText(node);
            default -> throw new NotCompilable(described(node));
        };
    }

    private Expression fold(Node.Struct node) throws NotCompilable {
        FoldWriter writer = new FoldWriter(catalog, pinned);
        Fold fold = writer.write(node);
        ValueType type = ValueType.ofOid(fold.typeOid());
        if (type == null) {
            throw new NotCompilable(
                    "a value of type \"" + catalog.type(fold.typeOid()).name() + "\" is not compared in process");
        }
        return new Expression.Folded(added(fold), type, writer.timing(node));
    }

    private int added(Fold fold) throws NotCompilable {
        int index = folds.add(fold);
        if (index < 0) {
            throw new NotCompilable("more than " + FoldList.COUNT_MAX + " row-free parts");
        }
        return index;
    }

    private static Expression constant(Node.Struct node) throws NotCompilable {
        ValueType type = ValueType.ofOid(node.integer("consttype"));
        if (type == null) {
            throw new NotCompilable("a constant of type " + node.token("consttype") + " is not compared in process");
        }
        return Answers.constant(type, TreeReading.constant(node, type));
    }

    private Expression column(Node.Struct node) throws NotCompilable {
        if (node.integer("varno") != 1 || node.integer("varlevelsup") != 0 || returningOldOrNew(node)) {
            throw new NotCompilable("a column of another table");
        }
        Column column = relation.column(node.integer("varattno"));
        if (column == null || column.typeOid() != node.integer("vartype")) {
            throw new NotCompilable(
                    "a system column, a whole row, or a column that is not in the catalog that was read");
        }
        ValueType type = ValueType.of(catalog.type(column.typeOid()));
        if (type == null) {
            throw new NotCompilable("column \"" + column.name() + "\" has type \""
                    + catalog.type(column.typeOid()).name() + "\", which is not compared in process");
        }
        if (!inTheLog(column)) {
            throw new NotCompilable("column \"" + column.name() + "\" is generated or not published");
        }
        return new Expression.ColumnValue(column.attnum(), type);
    }

    private static boolean returningOldOrNew(Node.Struct node) {
        return node.fields().containsKey("varreturningtype") && node.integer("varreturningtype") != 0;
    }

    private boolean inTheLog(Column column) {
        PublishedTable published = relation.published();
        List<String> listed = published == null ? null : published.columns();
        return column.generation() == Column.Generation.NONE && (listed == null || listed.contains(column.name()));
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

    private Expression operation(Node.Struct node) throws NotCompilable {
        ComparisonKind kind = comparison(node);
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        return new Expression.Comparison(kind, side(node, arguments, 0), side(node, arguments, 1));
    }

    private Expression distinct(Node.Struct node) throws NotCompilable {
        if (comparison(node) != ComparisonKind.EQUAL) {
            throw new NotCompilable("IS DISTINCT FROM does not use an equality");
        }
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        return new Expression.Distinct(side(node, arguments, 0), side(node, arguments, 1));
    }

    /// The comparison behind a node's operator, its collation one under which equal means the same bytes.
    private ComparisonKind comparison(Node.Struct node) throws NotCompilable {
        Operator operator = TreeReading.operator(catalog, node);
        BuiltIns.BuiltIn.Compares comparison = BuiltIns.comparison(catalog, operator.oid());
        if (comparison == null) {
            throw new NotCompilable(described(node) + " \"" + operator.name() + "\" on these types");
        }
        if (comparison.arguments().getFirst().collatable()
                && !FilterCompiler.bytewiseEqual(catalog, node.integer("inputcollid"))) {
            Collation collation = catalog.collation(node.integer("inputcollid"));
            throw new NotCompilable("collation \"" + (collation == null ? "unknown" : collation.name())
                    + "\" does not compare texts byte by byte");
        }
        return comparison.kind();
    }

    /// One side of a comparison, of exactly the type the operator's function takes.
    private Expression side(Node.Struct node, List<Node.Struct> arguments, int index) throws NotCompilable {
        Expression side = value(arguments.get(index));
        requireArgument(node, side.type(), index);
        return side;
    }

    private void requireArgument(Node.Struct node, ValueType type, int index) throws NotCompilable {
        BuiltIns.BuiltIn.Compares comparison = BuiltIns.comparison(catalog, node.integer("opno"));
        ValueType expected = comparison == null ? null : comparison.arguments().get(index);
        // A varchar is passed to a function on text without a cast of its own only inside arrays.
        boolean fits = type == expected || (type == ValueType.VARCHAR && expected == ValueType.TEXT);
        if (!fits) {
            throw new NotCompilable("an operator is applied to types it does not take");
        }
    }

    private Expression quantified(Node.Struct node) throws NotCompilable {
        ComparisonKind kind = comparison(node);
        List<Node.Struct> arguments = TreeReading.arguments(node, 2);
        Expression.Quantifier quantifier = node.flag("useOr") ? Expression.Quantifier.ANY : Expression.Quantifier.ALL;
        return new Expression.Quantified(
                kind, quantifier, side(node, arguments, 0), elements(node, arguments.getLast()));
    }

    private Expression.Elements elements(Node.Struct node, Node.Struct array) throws NotCompilable {
        if (array.tag().equals("RELABELTYPE")) {
            // varchar[] as text[]: the elements are the same bytes
            requireArgument(node, element(array.integer("resulttype")), 1);
            return elements(node, array.struct("arg"));
        }
        if (array.tag().equals("CONST")) {
            return constantElements(node, array);
        }
        if (array.tag().equals("ARRAYEXPR") && !array.flag("multidims")) {
            List<Expression> values = new ArrayList<>();
            for (Node.Struct item : TreeReading.structs(array.list("elements"))) {
                Expression value = value(item);
                requireArgument(node, value.type(), 1);
                values.add(value);
            }
            return new Expression.Elements.Listed(values);
        }
        if (TreeReading.contains(array, COLUMN_NODES)) {
            throw new NotCompilable("an array column is not compared in process");
        }
        FoldWriter writer = new FoldWriter(catalog, pinned);
        Fold fold = writer.write(array);
        ValueType type = element(fold.typeOid());
        requireArgument(node, type, 1);
        return new Expression.Elements.FoldedArray(added(fold), type, writer.timing(array));
    }

    private Expression.Elements constantElements(Node.Struct node, Node.Struct array) throws NotCompilable {
        ValueType type = element(array.integer("consttype"));
        requireArgument(node, type, 1);
        if (array.flag("constisnull")) {
            return new Expression.Elements.NullArray();
        }
        List<Expression> values = new ArrayList<>();
        for (@Nullable String text : DatumText.elements(type, TreeReading.datum(array))) {
            values.add(Answers.constant(type, text));
        }
        return new Expression.Elements.Listed(values);
    }

    private ValueType element(int arrayOid) throws NotCompilable {
        ValueType type = ValueType.ofArrayOid(arrayOid);
        if (type == null) {
            throw new NotCompilable(
                    "an array of type \"" + catalog.type(arrayOid).name() + "\" is not compared in process");
        }
        return type;
    }

    private Expression call(Node.Struct node) throws NotCompilable {
        if (BuiltIns.of(catalog, node.integer("funcid")) instanceof BuiltIns.BuiltIn.Widens(var result, var from)) {
            Expression argument = value(TreeReading.arguments(node, 1).getFirst());
            if (argument.type() == from.getFirst()) {
                return recast(argument, result);
            }
        }
        Function function = catalog.function(node.integer("funcid"));
        throw new NotCompilable(
                function == null
                        ? "a function is not in the catalog that was read"
                        : "function \"" + function.schema() + "." + function.name() + "\" is given a column");
    }

    /// A cast between types with the same text, or from a domain to its base.
    private Expression relabelled(Node.Struct node) throws NotCompilable {
        Expression argument = value(node.struct("arg"));
        ValueType result = ValueType.ofOid(node.integer("resulttype"));
        boolean sameText =
                result != null && result.collatable() && argument.type().collatable();
        if (result == null || (result != argument.type() && !sameText)) {
            throw new NotCompilable(described(node));
        }
        return recast(argument, result);
    }

    /// `uuid::text` and `integer::text`: what pgoutput sends is that text.
    private Expression asText(Node.Struct node) throws NotCompilable {
        Expression argument = value(node.struct("arg"));
        ValueType result = ValueType.ofOid(node.integer("resulttype"));
        boolean printed = switch (argument.type()) {
            case INT2, INT4, INT8, UUID -> argument instanceof Expression.ColumnValue;
            case BOOL, TEXT, VARCHAR -> false;
        };
        if (result == null || !result.collatable() || !printed) {
            throw new NotCompilable(described(node));
        }
        return recast(argument, result);
    }

    /// The same text read as another type.
    private static Expression recast(Expression argument, ValueType type) {
        return switch (argument) {
            case Expression.ColumnValue(var attnum, var from) -> new Expression.ColumnValue(attnum, type);
            case Expression.Constant(var from, var text) -> new Expression.Constant(type, text);
            case Expression.Folded(var index, var from, var timing) -> new Expression.Folded(index, type, timing);
            case Expression.And ignored -> argument;
            case Expression.Or ignored -> argument;
            case Expression.Not ignored -> argument;
            case Expression.NullTest ignored -> argument;
            case Expression.TruthTest ignored -> argument;
            case Expression.Comparison ignored -> argument;
            case Expression.Distinct ignored -> argument;
            case Expression.Quantified ignored -> argument;
            case Expression.Raised ignored -> argument;
            case Expression.Unsupported ignored -> argument;
        };
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
