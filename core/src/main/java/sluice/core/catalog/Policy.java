package sluice.core.catalog;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One row of `pg_policy`.
///
/// @param roles oids of the TO list; 0 stands for PUBLIC
/// @param tree `polqual` as a node tree; null for a policy without USING
/// @param text `pg_get_expr(polqual, polrelid)` made under `search_path = pg_catalog`, so every other name is
///     qualified; null for a policy without USING
/// @param textsByRole the same for roles under whose search path a name of `text` would be taken for another
///     function or operator than the policy's
public record Policy(
        int oid,
        String name,
        Mode mode,
        Command command,
        List<Integer> roles,
        @Nullable String tree,
        @Nullable String text,
        Map<String, String> textsByRole) {
    public Policy {
        roles = List.copyOf(roles);
        textsByRole = Collections.unmodifiableMap(new LinkedHashMap<>(textsByRole));
    }

    /// Read alike under every role.
    public Policy(
            int oid,
            String name,
            Mode mode,
            Command command,
            List<Integer> roles,
            @Nullable String tree,
            @Nullable String text) {
        this(oid, name, mode, command, roles, tree, text, Collections.emptyMap());
    }

    /// What the role is to ask PostgreSQL by.
    public @Nullable String textFor(String role) {
        String own = textsByRole.get(role);
        return own == null ? text : own;
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
