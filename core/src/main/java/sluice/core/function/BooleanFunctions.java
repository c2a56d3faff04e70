package sluice.core.function;

import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.TEXT;

/// Truth values as values (`bool.c`).
final class BooleanFunctions {
    private BooleanFunctions() {}

    static void register(FunctionTable table) {
        table.ordered("bool", BOOL);
        table.unary("booltext", BOOL, TEXT, value -> value ? "true" : "false").neverRaises();
        table.unary("bool_int4", BOOL, INT4, value -> value ? 1L : 0L).neverRaises();
        table.unary("int4_bool", INT4, BOOL, value -> value != 0).neverRaises();
    }
}
