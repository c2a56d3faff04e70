package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Operator;
import sluice.core.datum.DatumFormatException;
import sluice.core.datum.Datums;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// What several readers of a tree need to know of its nodes.
final class TreeReading {
    private TreeReading() {}

    static Node.Struct struct(Node node) throws NotCompilable {
        if (node instanceof Node.Struct struct) {
            return struct;
        }
        throw new NotCompilable("an expression has an unknown form");
    }

    static List<Node.Struct> structs(List<Node> nodes) throws NotCompilable {
        List<Node.Struct> structs = new ArrayList<>();
        for (Node node : nodes) {
            structs.add(struct(node));
        }
        return structs;
    }

    /// The arguments, exactly so many.
    static List<Node.Struct> arguments(Node.Struct node, int count) throws NotCompilable {
        List<Node.Struct> arguments = structs(node.list("args"));
        if (arguments.size() != count) {
            throw new NotCompilable(node.tag() + " has " + arguments.size() + " arguments");
        }
        return arguments;
    }

    /// The constant's text as the server prints it, null for SQL NULL.
    static @Nullable String constant(Node.Struct node, ValueType<?> type) throws NotCompilable {
        if (node.flag("constisnull")) {
            return null;
        }
        if (node.field("constvalue") instanceof Node.Datum(var bytes)) {
            try {
                return text(type, bytes);
            } catch (DatumFormatException unknownForm) {
                throw new NotCompilable(String.valueOf(unknownForm.getMessage()));
            }
        }
        throw new NotCompilable("a constant has no value");
    }

    private static <T> String text(ValueType<T> type, byte[] bytes) throws DatumFormatException {
        return type.print(Datums.decode(type, bytes));
    }

    /// A list of oids (`(o 96 97)`), one for each column.
    static List<Integer> oids(Node.Struct node, String field) throws NotCompilable {
        List<Integer> oids = new ArrayList<>();
        for (Node item : node.list(field)) {
            if (!(item instanceof Node.Token(var text))) {
                throw new NotCompilable("a list of oids has an unknown form");
            }
            if (!text.equals("o")) {
                oids.add(Integer.parseUnsignedInt(text));
            }
        }
        return oids;
    }

    static Operator operator(CatalogImage catalog, Node.Struct node) throws NotCompilable {
        Operator operator = catalog.operator(node.integer("opno"));
        if (operator == null) {
            throw new NotCompilable("an operator is not in the catalog that was read");
        }
        return operator;
    }

    /// The target of a sub-select without FROM, WHERE or anything else that could change how many rows it has, null
    /// for every other sub-select.
    static Node.@Nullable Struct scalarTarget(Node.Struct subLink) throws NotCompilable {
        if (subLink.integer("subLinkType") != 4 || !subLink.absent("testexpr")) {
            return null;
        }
        Node.Struct query = subLink.struct("subselect");
        if (!plainSelect(query)) {
            return null;
        }
        List<Node.Struct> targets = structs(query.list("targetList"));
        return targets.size() == 1 && !targets.getFirst().flag("resjunk")
                ? targets.getFirst().struct("expr")
                : null;
    }

    /// Whether the query is `SELECT expression, ...` and nothing else: it reads no table and has one row.
    static boolean plainSelect(Node.Struct query) {
        if (!query.tag().equals("QUERY") || query.integer("commandType") != 1) {
            return false;
        }
        for (String flag : List.of("hasAggs", "hasWindowFuncs", "hasTargetSRFs", "hasRecursive", "hasModifyingCTE")) {
            if (query.flag(flag)) {
                return false;
            }
        }
        for (String part : List.of(
                "utilityStmt",
                "cteList",
                "rtable",
                "groupClause",
                "groupingSets",
                "havingQual",
                "windowClause",
                "distinctClause",
                "sortClause",
                "limitOffset",
                "limitCount",
                "rowMarks",
                "setOperations",
                "returningList",
                "withCheckOptions",
                "onConflict")) {
            if (!query.absent(part)) {
                return false;
            }
        }
        Node.Struct from = query.struct("jointree");
        return from.absent("fromlist") && from.absent("quals");
    }

    /// Whether a node is or contains one of the tags, at any depth.
    static boolean contains(Node node, List<String> tags) {
        return switch (node) {
            case Node.Struct(var tag, var fields) -> {
                boolean found = tags.contains(tag);
                for (Node field : fields.values()) {
                    found = found || contains(field, tags);
                }
                yield found;
            }
            case Node.Sequence(var items) -> {
                boolean found = false;
                for (Node item : items) {
                    found = found || contains(item, tags);
                }
                yield found;
            }
            case Node.Token ignored -> false;
            case Node.Quoted ignored -> false;
            case Node.Absent ignored -> false;
            case Node.Datum ignored -> false;
        };
    }

    /// The type a node's value has.
    static int typeOf(Node.Struct node) throws NotCompilable {
        return switch (node.tag()) {
            case "CONST" -> node.integer("consttype");
            case "VAR" -> node.integer("vartype");
            case "FUNCEXPR" -> node.integer("funcresulttype");
            case "OPEXPR", "NULLIFEXPR" -> node.integer("opresulttype");
            case "RELABELTYPE", "COERCEVIAIO" -> node.integer("resulttype");
            case "COALESCEEXPR" -> node.integer("coalescetype");
            case "CASEEXPR" -> node.integer("casetype");
            case "CASETESTEXPR" -> node.integer("typeId");
            case "MINMAXEXPR" -> node.integer("minmaxtype");
            case "ARRAYEXPR" -> node.integer("array_typeid");
            case "SQLVALUEFUNCTION" -> node.integer("type");
            case "SUBLINK" -> subLinkType(node);
            case "SCALARARRAYOPEXPR", "BOOLEXPR", "NULLTEST", "BOOLEANTEST", "DISTINCTEXPR" -> ValueTypes.BOOL.oid();
            default -> throw new NotCompilable(ExpressionReader.described(node));
        };
    }

    private static int subLinkType(Node.Struct node) throws NotCompilable {
        Node.Struct target = scalarTarget(node);
        if (target == null) {
            throw new NotCompilable(ExpressionReader.described(node));
        }
        return typeOf(target);
    }
}
