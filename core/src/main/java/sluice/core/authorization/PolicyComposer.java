package sluice.core.authorization;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;

/// Which policies decide what a role may SELECT of a table, put together as PostgreSQL does.
///
/// Source: PostgreSQL 18 manual, 5.9 "Row Security Policies" and CREATE POLICY; `rowsecurity.c` and `rls.c`.
public final class PolicyComposer {
    /// `strcmp`, as the index on names and the rewriter compare.
    private static final Comparator<Policy> BY_NAME =
            Comparator.comparing(policy -> policy.name().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private PolicyComposer() {}

    /// What comes of the flags, the owner, the role and the TO lists.
    public sealed interface Composition {
        /// Policies do not apply.
        ///
        /// @param reason one sentence for the client
        record Unrestricted(String reason) implements Composition {}

        /// Row-level security applies and no permissive policy does: nothing is visible.
        record NothingVisible() implements Composition {}

        /// A row is visible when one of `permissive` and all of `restrictive` are TRUE for it. Both
        /// in the order in
        /// which PostgreSQL evaluates them, for what raises in one is not reached behind a deciding other:
        /// restrictive ones by name, permissive ones by name backwards.
        record Policies(List<Policy> permissive, List<Policy> restrictive) implements Composition {
            public Policies {
                permissive = List.copyOf(permissive);
                restrictive = List.copyOf(restrictive);
            }
        }
    }

    public static Composition compose(Relation relation, Role role) {
        String table = "table \"" + relation.qualifiedName() + "\"";
        switch (relation.rowSecurity()) {
            case OFF -> {
                return new Composition.Unrestricted("row-level security is off for " + table);
            }
            case ON -> {
                if (role.hasPrivilegesOf(relation.ownerOid())) {
                    return new Composition.Unrestricted("role \"" + role.name() + "\" has the rights of the owner of "
                            + table + " and bypasses row-level security");
                }
            }
            case FORCED -> {
                // binds the owner too
            }
        }
        switch (role.bypass()) {
            case SUPERUSER, BYPASS_RLS -> {
                return new Composition.Unrestricted("role \"" + role.name() + "\" bypasses row-level security");
            }
            case NONE -> {
                // policies decide
            }
        }
        List<Policy> permissive = new ArrayList<>();
        List<Policy> restrictive = new ArrayList<>();
        for (Policy policy : relation.policies()) {
            if (appliesToReads(policy) && appliesTo(policy, role)) {
                switch (policy.mode()) {
                    case PERMISSIVE -> permissive.add(policy);
                    case RESTRICTIVE -> restrictive.add(policy);
                }
            }
        }
        if (permissive.isEmpty()) {
            return new Composition.NothingVisible();
        }
        // relcache.c puts each policy its index scan finds in front; rowsecurity.c sorts only the restrictive ones
        permissive.sort(BY_NAME.reversed());
        restrictive.sort(BY_NAME);
        return new Composition.Policies(permissive, restrictive);
    }

    /// A policy without USING says nothing about reading.
    private static boolean appliesToReads(Policy policy) {
        return switch (policy.command()) {
            case ALL, SELECT -> policy.tree() != null;
            case INSERT, UPDATE, DELETE -> false;
        };
    }

    private static boolean appliesTo(Policy policy, Role role) {
        for (Integer oid : policy.roles()) {
            if (oid == 0 || role.hasPrivilegesOf(oid)) {
                return true;
            }
        }
        return false;
    }
}
