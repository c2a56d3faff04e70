package sluice.core.expression;

import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.datum.ValueTypes;
import sluice.core.value.PgType;

/// Which functions may be evaluated once for a caller: those whose answer nothing can change but the caller's claims.
///
/// A function that reads a table, the clock, a sequence or a setting we do not make would go stale without anybody
/// noticing, and a stale yes is a leak. So a function is safe only when that is proven: by being an immutable
/// function of the server, by its analysed body, or by a string body in a small language that cannot name a table.
final class FunctionSafety {
    /// Functions within functions.
    private static final int DEPTH_MAX = 8;

    /// The settings made for each caller; nobody else changes them within an evaluation.
    static final String CALLER_SETTINGS = "request.";

    /// Nodes a proven body may consist of.
    private static final List<String> BODY_NODES = List.of(
            "QUERY",
            "FROMEXPR",
            "TARGETENTRY",
            "CONST",
            "PARAM",
            "FUNCEXPR",
            "OPEXPR",
            "SCALARARRAYOPEXPR",
            "DISTINCTEXPR",
            "NULLIFEXPR",
            "BOOLEXPR",
            "NULLTEST",
            "BOOLEANTEST",
            "RELABELTYPE",
            "COERCEVIAIO",
            "COALESCEEXPR",
            "CASEEXPR",
            "CASEWHEN",
            "CASETESTEXPR",
            "ARRAYEXPR",
            "SUBLINK");

    private final CatalogImage catalog;

    FunctionSafety(CatalogImage catalog) {
        this.catalog = catalog;
    }

    /// What is known of a safe function.
    enum Safety {
        IMMUTABLE,
        /// Depends on the caller.
        OF_THE_CALLER
    }

    /// @param arguments of the call, for the name of the setting it reads
    /// @throws NotCompilable naming the function
    Safety check(int functionOid, List<Node.Struct> arguments) throws NotCompilable {
        return check(functionOid, arguments, 0);
    }

    private Safety check(int functionOid, List<Node.Struct> arguments, int depth) throws NotCompilable {
        Function function = catalog.function(functionOid);
        if (function == null) {
            throw new NotCompilable("a function is not in the catalog that was read");
        }
        if (BuiltIns.ofTheServer(function)) {
            return checkBuiltIn(function, arguments);
        }
        if (touchesDomain(function) || searchesElsewhereFirst(function)) {
            throw new NotCompilable(named(function) + " takes or returns a domain, or names its own search path first");
        }
        checkBody(function, depth);
        return Safety.OF_THE_CALLER;
    }

    private static Safety checkBuiltIn(Function function, List<Node.Struct> arguments) throws NotCompilable {
        if (function.volatility() == Function.Volatility.IMMUTABLE) {
            return Safety.IMMUTABLE;
        }
        if (readsSetting(function) && !arguments.isEmpty()) {
            Node.Struct name = arguments.getFirst();
            if (name.tag().equals("CONST")) {
                String setting = TreeReading.constant(name, ValueTypes.TEXT);
                if (setting != null && setting.startsWith(CALLER_SETTINGS)) {
                    return Safety.OF_THE_CALLER;
                }
            }
            throw new NotCompilable("current_setting() reads a setting that is not the caller's");
        }
        throw new NotCompilable(named(function) + " may answer differently from one moment to the next");
    }

    /// A domain's check may be any function.
    private boolean touchesDomain(Function function) {
        boolean domain = holdsDomain(catalog.type(function.returnType()));
        for (int type : function.argumentTypes()) {
            domain |= holdsDomain(catalog.type(type));
        }
        return domain;
    }

    private static boolean holdsDomain(PgType type) {
        return switch (type) {
            case PgType.Domain ignored -> true;
            case PgType.Array(var oid, var name, var element, var delimiter) -> holdsDomain(element);
            case PgType.Composite(var oid, var name, var attributes) ->
                attributes.stream().anyMatch(attribute -> holdsDomain(attribute.type()));
            case PgType.Base ignored -> false;
            case PgType.TextLike ignored -> false;
            case PgType.Enumeration ignored -> false;
        };
    }

    /// Where `pg_catalog` is named but not first, a bare name may be a user's.
    private static boolean searchesElsewhereFirst(Function function) {
        String path = function.searchPath();
        return path != null && path.indexOf("pg_catalog") > 1;
    }

    private static boolean readsSetting(Function function) {
        return function.source().equals("show_config_by_name")
                || function.source().equals("show_config_by_name_missing_ok");
    }

    private void checkBody(Function function, int depth) throws NotCompilable {
        if (depth == DEPTH_MAX) {
            throw new NotCompilable(named(function) + " calls functions that call functions too deep");
        }
        if (!function.language().equals("sql")) {
            throw new NotCompilable(named(function) + " is written in " + function.language() + " and may read tables");
        }
        String body = function.body();
        if (body == null) {
            SqlBody.Calls calls = SqlBody.read(function.source(), new BodyNames(catalog, function));
            if (calls == null) {
                throw new NotCompilable(named(function) + " may read tables or the clock");
            }
            for (SqlBody.Call call : calls.list()) {
                checkCall(function, call, depth + 1);
            }
            return;
        }
        try {
            checkTree(function, NodeTree.read(body), depth + 1);
        } catch (NodeTreeException unreadable) {
            throw new NotCompilable(named(function) + " has a body that cannot be read");
        }
    }

    /// Every function of that name must be safe, as which one a text means is not worked out here.
    private void checkCall(Function caller, SqlBody.Call call, int depth) throws NotCompilable {
        boolean found = false;
        for (Function candidate : catalog.dictionary().functionsByOid().values()) {
            if (candidate.schema().equals(call.schema()) && candidate.name().equals(call.name())) {
                // A text may leave out arguments, whose defaults are not read.
                if (!candidate.argumentTypes().isEmpty()) {
                    throw new NotCompilable(named(caller) + " calls a function with arguments");
                }
                check(candidate.oid(), List.of(), depth);
                found = true;
            }
        }
        if (!found) {
            throw new NotCompilable(named(caller) + " calls a function that was not read from the catalog");
        }
    }

    private void checkTree(Function function, Node node, int depth) throws NotCompilable {
        switch (node) {
            case Node.Struct struct -> {
                checkNode(function, struct, depth);
                for (Node field : struct.fields().values()) {
                    checkTree(function, field, depth);
                }
            }
            case Node.Sequence(var items) -> {
                for (Node item : items) {
                    checkTree(function, item, depth);
                }
            }
            case Node.Token ignored -> {}
            case Node.Quoted ignored -> {}
            case Node.Absent ignored -> {}
            case Node.Datum ignored -> {}
        }
    }

    private void checkNode(Function function, Node.Struct node, int depth) throws NotCompilable {
        boolean known = BODY_NODES.contains(node.tag());
        boolean plain = !node.tag().equals("QUERY") || TreeReading.plainSelect(node);
        if (!known || !plain) {
            throw new NotCompilable(named(function) + " may read tables or the clock");
        }
        if (node.tag().equals("FUNCEXPR")) {
            List<Node.Struct> arguments = TreeReading.structs(node.list("args"));
            Function called = catalog.function(node.integer("funcid"));
            if (called != null
                    && !BuiltIns.ofTheServer(called)
                    && called.argumentTypes().size() != arguments.size()) {
                throw new NotCompilable(named(called) + " is called with defaults");
            }
            check(node.integer("funcid"), arguments, depth);
        } else if (node.fields().containsKey("opno")) {
            check(TreeReading.operator(catalog, node).functionOid(), List.of(), depth);
        } else if (node.tag().equals("COERCEVIAIO")) {
            SqlTypes.name(catalog, node.integer("resulttype"));
            if (!SqlTypes.readsAlike(catalog.type(node.integer("resulttype")))) {
                throw new NotCompilable(named(function) + " may read a text as the clock");
            }
        }
    }

    private static String named(Function function) {
        return "function \"" + function.schema() + "." + function.name() + "\"";
    }
}
