package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;

/// A stored policy expression, read but not yet understood. Immutable.
public final class PolicyTree {
    /// Stands for the whole row in {@link #columns()}.
    public static final int WHOLE_ROW = 0;

    private static final List<String> BOUND_TO_A_ROW = List.of("VAR", "PARAM", "CASETESTEXPR");

    private final @Nullable Node root;
    private final String problem;

    private PolicyTree(@Nullable Node root, String problem) {
        this.root = root;
        this.problem = problem;
    }

    /// A text that cannot be read is a tree all the same: one that is not compilable and may need the whole row.
    public static PolicyTree read(String text) {
        try {
            return new PolicyTree(NodeTree.read(text), "");
        } catch (NodeTreeException unreadable) {
            return new PolicyTree(null, unreadable.getMessage());
        }
    }

    Node root() throws NotCompilable {
        if (root == null) {
            throw new NotCompilable(problem);
        }
        return root;
    }

    /// Whether the text is a tree as far as its form goes.
    public boolean isReadable() {
        return root != null;
    }

    /// Oids of the STABLE functions that are called without a column and outside every sub-select, so that
    /// PostgreSQL may call them once for each row. Each once, in order.
    public List<Integer> callsForEachRow(CatalogImage catalog) {
        List<Integer> found = new ArrayList<>();
        try {
            if (root != null) {
                callsForEachRow(root, catalog, found);
            }
        } catch (NodeTreeException unknownForm) {
            return List.of();
        }
        return List.copyOf(found);
    }

    private static void callsForEachRow(Node node, CatalogImage catalog, List<Integer> found) {
        switch (node) {
            case Node.Struct struct
            when struct.tag().equals("SUBLINK") -> callsForEachRow(struct.field("testexpr"), catalog, found);
            case Node.Struct struct
            when isWrappable(struct, catalog) -> {
                if (!found.contains(struct.integer("funcid"))) {
                    found.add(struct.integer("funcid"));
                }
            }
            case Node.Struct struct ->
                struct.fields().values().forEach(field -> callsForEachRow(field, catalog, found));
            case Node.Sequence(var items) -> items.forEach(item -> callsForEachRow(item, catalog, found));
            case Node.Token ignored -> {}
            case Node.Quoted ignored -> {}
            case Node.Absent ignored -> {}
            case Node.Datum ignored -> {}
        }
    }

    /// Written as a call, not as a cast; with the same answer for every row of one statement.
    private static boolean isWrappable(Node.Struct node, CatalogImage catalog) {
        if (!node.tag().equals("FUNCEXPR") || node.integer("funcformat") != 0) {
            return false;
        }
        Function function = catalog.function(node.integer("funcid"));
        return function != null
                && function.volatility() == Function.Volatility.STABLE
                && !TreeReading.contains(node.field("args"), BOUND_TO_A_ROW);
    }

    /// Attnums of the policy's table that it reads, sub-selects included.
    public List<Integer> columns() {
        List<Integer> columns = new ArrayList<>();
        try {
            if (root == null) {
                columns.add(WHOLE_ROW);
            } else {
                columns(root, 0, columns);
            }
        } catch (NodeTreeException unknownForm) {
            columns.add(WHOLE_ROW);
        }
        columns.sort(null);
        return List.copyOf(columns);
    }

    /// Oids of the functions it calls, those behind operators included. Empty for an unreadable tree, which no one
    /// evaluates in process.
    public List<Integer> functions(CatalogImage catalog) {
        List<Integer> functions = new ArrayList<>();
        try {
            if (root != null) {
                functions(root, catalog, functions);
            }
        } catch (NodeTreeException unknownForm) {
            return List.copyOf(functions);
        }
        return List.copyOf(functions);
    }

    /// Whether it casts by text where a user's cast stands by now. The policy goes on casting by text; its own
    /// text, read again, would mean the user's.
    public boolean meansAnotherCast(CatalogImage catalog) {
        return root != null && meansAnotherCast(root, catalog);
    }

    private static boolean meansAnotherCast(Node node, CatalogImage catalog) {
        return switch (node) {
            case Node.Struct struct ->
                (struct.tag().equals("COERCEVIAIO") && isCastByUser(struct, catalog))
                        || struct.fields().values().stream().anyMatch(field -> meansAnotherCast(field, catalog));
            case Node.Sequence(var items) -> items.stream().anyMatch(item -> meansAnotherCast(item, catalog));
            case Node.Token ignored -> false;
            case Node.Quoted ignored -> false;
            case Node.Absent ignored -> false;
            case Node.Datum ignored -> false;
        };
    }

    /// In doubt, for a value of a type that is not told, whatever is cast to the same type counts.
    private static boolean isCastByUser(Node.Struct cast, CatalogImage catalog) {
        int to = cast.integer("resulttype");
        try {
            return SqlTypes.castByUser(catalog, TreeReading.typeOf(TreeReading.struct(cast.field("arg"))), to);
        } catch (NotCompilable | NodeTreeException unknownForm) {
            return catalog.dictionary().ownCasts().stream().anyMatch(own -> own.targetType() == to);
        }
    }

    /// @param depth queries around the node: a Var that reaches out of all of them is a column of
    /// the policy's table
    private static void columns(Node node, int depth, List<Integer> columns) {
        switch (node) {
            case Node.Struct struct -> {
                if (struct.tag().equals("VAR")
                        && struct.integer("varlevelsup") == depth
                        && (depth > 0 || struct.integer("varno") == 1)) {
                    int attnum = Math.max(struct.integer("varattno"), WHOLE_ROW);
                    if (!columns.contains(attnum)) {
                        columns.add(attnum);
                    }
                }
                int inside = struct.tag().equals("QUERY") ? depth + 1 : depth;
                for (Node field : struct.fields().values()) {
                    columns(field, inside, columns);
                }
            }
            case Node.Sequence(var items) -> {
                for (Node item : items) {
                    columns(item, depth, columns);
                }
            }
            case Node.Token ignored -> {}
            case Node.Quoted ignored -> {}
            case Node.Absent ignored -> {}
            case Node.Datum ignored -> {}
        }
    }

    private static void functions(Node node, CatalogImage catalog, List<Integer> functions) {
        switch (node) {
            case Node.Struct struct -> {
                if (struct.tag().equals("FUNCEXPR")) {
                    functions.add(struct.integer("funcid"));
                } else if (struct.tag().equals("AGGREF")) {
                    functions.add(struct.integer("aggfnoid"));
                } else if (struct.fields().containsKey("opno")) {
                    Operator operator = catalog.operator(struct.integer("opno"));
                    if (operator != null) {
                        functions.add(operator.functionOid());
                    }
                }
                for (Node field : struct.fields().values()) {
                    functions(field, catalog, functions);
                }
            }
            case Node.Sequence(var items) -> {
                for (Node item : items) {
                    functions(item, catalog, functions);
                }
            }
            case Node.Token ignored -> {}
            case Node.Quoted ignored -> {}
            case Node.Absent ignored -> {}
            case Node.Datum ignored -> {}
        }
    }
}
