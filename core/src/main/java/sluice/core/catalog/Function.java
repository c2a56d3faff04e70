package sluice.core.catalog;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One row of `pg_proc`.
///
/// @param language `pg_language.lanname`: `internal`, `c`, `sql`, `plpgsql`, ...
/// @param source `prosrc`: the C symbol of an internal function, else the body; in front of a C function's symbol its
///     library and a colon
/// @param body `prosqlbody` as a node tree, null for string bodies
/// @param searchPath the function's own `SET search_path`, null when it has none
/// @param executableByRole whether each allowed role has EXECUTE
/// @param version moves with every CREATE OR REPLACE (its `xmin`)
public record Function(
        int oid,
        String schema,
        String name,
        String language,
        Volatility volatility,
        Strictness strictness,
        Security security,
        int returnType,
        List<Integer> argumentTypes,
        String source,
        @Nullable String body,
        @Nullable String searchPath,
        Map<String, Boolean> executableByRole,
        String version) {
    public Function {
        argumentTypes = List.copyOf(argumentTypes);
    }

    /// `provolatile`.
    public enum Volatility {
        IMMUTABLE,
        STABLE,
        VOLATILE
    }

    /// `proisstrict`.
    public enum Strictness {
        STRICT,
        CALLED_ON_NULL
    }

    /// `prosecdef`.
    public enum Security {
        INVOKER,
        DEFINER
    }

    /// Without what may change while it does the same for whoever may call it: two that are equal do the same.
    public Function asDefined() {
        return new Function(
                oid,
                schema,
                name,
                language,
                volatility,
                strictness,
                security,
                returnType,
                argumentTypes,
                source,
                body,
                searchPath,
                Collections.emptyMap(),
                "");
    }

    public boolean builtIn() {
        return schema.equals("pg_catalog");
    }
}
