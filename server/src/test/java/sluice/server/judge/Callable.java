package sluice.server.judge;

import java.util.List;
import java.util.StringJoiner;

/// A function, operator or cast of `pg_catalog` with concrete types, as the catalog of the running server lists it.
///
/// @param symbol `prosrc`: what the server runs; empty for a cast without a function
/// @param arguments `pg_type.typname` each, polymorphic ones made concrete
record Callable(Kind kind, String name, String symbol, List<String> arguments, String result) {
    enum Kind {
        OPERATOR,
        FUNCTION,
        /// Takes its last argument as `VARIADIC array`.
        VARIADIC,
        CAST
    }

    /// Names the signature in reports.
    String key() {
        return symbol + "(" + String.join(",", arguments) + ")" + (kind == Kind.CAST ? "::" + result : "") + " " + name;
    }

    /// @param written one argument each
    String sql(List<String> written) {
        return switch (kind) {
            case OPERATOR ->
                written.size() == 1
                        ? "(OPERATOR(pg_catalog." + name + ") " + written.getFirst() + ")"
                        : "(" + written.getFirst() + " OPERATOR(pg_catalog." + name + ") " + written.getLast() + ")";
            case CAST -> "(" + written.getFirst() + ")::" + result;
            case VARIADIC -> called(name, written.subList(0, written.size() - 1), "VARIADIC " + written.getLast());
            case FUNCTION -> called(name, written);
        };
    }

    private static String called(String name, List<String> written, String... last) {
        StringJoiner list = new StringJoiner(", ", "pg_catalog.\"" + name + "\"(", ")");
        written.forEach(list::add);
        List.of(last).forEach(list::add);
        return list.toString();
    }
}
