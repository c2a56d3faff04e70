package sluice.core.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.PolicyComposer.Composition;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Policy.Command;
import sluice.core.catalog.Policy.Mode;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Relation.RowSecurity;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;

class PolicyComposerTest {
    private static final int OWNER = 10;
    private static final int ROLE = 20;
    private static final int GROUP = 30;
    private static final Policy OPEN = policy("open", Mode.PERMISSIVE, Command.SELECT, List.of(0), "{}");
    private static final Policy HIDE = policy("hide", Mode.RESTRICTIVE, Command.ALL, List.of(0), "{}");

    private static Policy policy(String name, Mode mode, Command command, List<Integer> roles, @Nullable String tree) {
        return new Policy(1, name, mode, command, roles, tree, tree);
    }

    private static Composition compose(RowSecurity security, Role role, Policy... policies) {
        return PolicyComposer.compose(
                new Relation(
                        1,
                        "public",
                        "t",
                        Relation.Kind.TABLE,
                        OWNER,
                        security,
                        new ReplicaIdentity.Full(),
                        List.of(),
                        List.of(),
                        List.of(policies),
                        Map.of(),
                        null,
                        "",
                        "",
                        new Relation.Feed("", "", Map.of())),
                role);
    }

    private static Role role(Role.Bypass bypass, Integer... privilegesOf) {
        return new Role(ROLE, "alice", bypass, List.of(privilegesOf));
    }

    @Test
    void a_table_without_row_security_is_open() {
        assertThat(compose(RowSecurity.OFF, role(Role.Bypass.NONE, ROLE))).isInstanceOf(Composition.Unrestricted.class);
    }

    @Test
    void the_owners_rights_bypass_unless_forced() {
        Role owner = role(Role.Bypass.NONE, ROLE, OWNER);

        assertThat(compose(RowSecurity.ON, owner)).isInstanceOf(Composition.Unrestricted.class);
        assertThat(compose(RowSecurity.FORCED, owner)).isInstanceOf(Composition.NothingVisible.class);
    }

    @Test
    void a_bypassing_role_ignores_restrictive_policies_even_when_forced() {
        for (Role.Bypass bypass : List.of(Role.Bypass.BYPASS_RLS, Role.Bypass.SUPERUSER)) {
            Composition composition = compose(RowSecurity.FORCED, role(bypass, ROLE), OPEN, HIDE);
            assertThat(composition)
                    .isInstanceOfSatisfying(
                            Composition.Unrestricted.class,
                            open -> assertThat(open.reason()).contains("bypasses row-level security"));
        }
    }

    @Test
    void without_a_permissive_policy_nothing_is_visible() {
        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE), HIDE))
                .isInstanceOf(Composition.NothingVisible.class);
    }

    @Test
    void restrictive_policies_are_kept_apart() {
        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE), OPEN, HIDE))
                .isEqualTo(new Composition.Policies(List.of(OPEN), List.of(HIDE)));
    }

    @Test
    void a_policy_for_another_role_does_not_apply() {
        Policy others = policy("others", Mode.PERMISSIVE, Command.SELECT, List.of(GROUP), "{}");

        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE), others))
                .isInstanceOf(Composition.NothingVisible.class);
        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE, GROUP), others))
                .isEqualTo(new Composition.Policies(List.of(others), List.of()));
    }

    @Test
    void a_restrictive_policy_for_a_group_binds_its_members_and_nobody_else() {
        Policy hide = policy("hide", Mode.RESTRICTIVE, Command.SELECT, List.of(GROUP), "{}");

        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE, GROUP), OPEN, hide))
                .isEqualTo(new Composition.Policies(List.of(OPEN), List.of(hide)));
        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE), OPEN, hide))
                .isEqualTo(new Composition.Policies(List.of(OPEN), List.of()));
    }

    @Test
    void only_select_and_all_with_using_let_read() {
        for (Command command : List.of(Command.INSERT, Command.UPDATE, Command.DELETE)) {
            assertThat(compose(
                            RowSecurity.ON,
                            role(Role.Bypass.NONE, ROLE),
                            policy("p", Mode.PERMISSIVE, command, List.of(0), "{}")))
                    .isInstanceOf(Composition.NothingVisible.class);
        }
        assertThat(compose(
                        RowSecurity.ON,
                        role(Role.Bypass.NONE, ROLE),
                        policy("check", Mode.PERMISSIVE, Command.ALL, List.of(0), null)))
                .isInstanceOf(Composition.NothingVisible.class);
    }

    @Test
    void permissive_policies_are_evaluated_by_name_backwards() {
        Policy first = policy("a", Mode.PERMISSIVE, Command.ALL, List.of(0), "{}");

        assertThat(compose(RowSecurity.ON, role(Role.Bypass.NONE, ROLE), OPEN, first))
                .isEqualTo(new Composition.Policies(List.of(OPEN, first), List.of()));
    }
}
