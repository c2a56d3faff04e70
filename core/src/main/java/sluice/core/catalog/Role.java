package sluice.core.catalog;

import java.util.List;

/// One allowed role.
///
/// @param bypass `rolsuper` or `rolbypassrls` of the role itself, never inherited
/// @param privilegesOf oids of all roles whose privileges it has (`pg_has_role(..., 'USAGE')`), its own included
public record Role(int oid, String name, Bypass bypass, List<Integer> privilegesOf) {
    public Role {
        privilegesOf = List.copyOf(privilegesOf);
    }

    /// Whether row-level security applies to the role at all.
    public enum Bypass {
        NONE,
        BYPASS_RLS,
        SUPERUSER
    }

    public boolean hasPrivilegesOf(int roleOid) {
        return privilegesOf.contains(roleOid);
    }
}
