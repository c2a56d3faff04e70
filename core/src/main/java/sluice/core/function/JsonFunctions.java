package sluice.core.function;

/// `json` and `jsonb` (`json.c`, `jsonb_op.c`, `jsonfuncs.c`).
final class JsonFunctions {
    private JsonFunctions() {}

    static void register(FunctionTable table) {}
}
