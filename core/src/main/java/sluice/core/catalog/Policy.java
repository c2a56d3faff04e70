package sluice.core.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// One row of `pg_policy`.
///
/// @param roles oids of the TO list; 0 stands for PUBLIC
/// @param tree `polqual` as a node tree; null for a policy without USING
/// @param text `pg_get_expr(polqual, polrelid)` made under `search_path = pg_catalog`, so every other name is
///     qualified; null for a policy without USING
public record Policy(
        int oid,
        String name,
        Mode mode,
        Command command,
        List<Integer> roles,
        @Nullable String tree,
        @Nullable String text) {
    public Policy {
        roles = List.copyOf(roles);
    }

    /// How the policy combines with others.
    public enum Mode {
        PERMISSIVE,
        RESTRICTIVE
    }

    /// `pg_policy.polcmd`.
    public enum Command {
        ALL,
        SELECT,
        INSERT,
        UPDATE,
        DELETE
    }
}
