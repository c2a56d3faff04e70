package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.datum.EvaluationException;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.value.Truth;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Random policies, role graphs, owners and FORCE: the rows our rule shows are the rows PostgreSQL returns.
///
/// Where PostgreSQL's query raises, it is asked row by row, and what it does not return we must not show.
class RowSecurityDifferentialPgTest {
    private static final List<String> CLAIMS = List.of(
            "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\",\"team\":\"a\",\"level\":1,"
                    + "\"app\":{\"team\":\"b\"}}",
            "{\"sub\":\"nobody\",\"team\":\"b\"}",
            "");
    private static final int ROWS = 40;

    @Test
    void shows_what_postgresql_18_shows() {
        compare(18, Boolean.getBoolean("sluice.long") ? 1_500 : 60);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void shows_what_older_majors_show(int major) {
        compare(major, 10);
    }

    private static void compare(int major, int worlds) {
        long seed = Long.getLong("sluice.seed", 815L);
        Random random = new Random(seed);
        Tally tally = new Tally();
        try (PolicyTable table = PolicyTable.create(PostgresCluster.of(major).createDatabase("rowsecurity"))) {
            table.fill(random, ROWS);
            for (int world = 0; world < worlds; world++) {
                RoleGraph roles = RoleGraph.create(table.database(), random);
                List<String> policies = policies(table.database(), roles, random);
                CatalogImage catalog = table.catalog(roles.names());
                for (String name : roles.names()) {
                    for (String claims : CLAIMS) {
                        compare(new Caller(table, catalog, name, claims), policies, tally);
                    }
                }
                roles.drop(table.database());
            }
        }
        System.out.println("PostgreSQL " + major + ", seed " + seed + ": " + tally);
        assertThat(tally.differences).isEmpty();
        assertThat(tally.decisions).isGreaterThan(worlds * 200);
        assertThat(tally.visible).as("rows shown").isGreaterThan(tally.decisions / 20);
    }

    private record Caller(PolicyTable table, CatalogImage catalog, String role, String claims) {}

    private static List<String> policies(PostgresDatabase database, RoleGraph roles, Random random) {
        for (List<@Nullable String> name :
                database.rows("SELECT polname FROM pg_policy WHERE polrelid = 't'::regclass")) {
            database.execute("DROP POLICY " + name.getFirst() + " ON t");
        }
        database.execute(
                "ALTER TABLE t " + (random.nextInt(12) == 0 ? "DISABLE" : "ENABLE") + " ROW LEVEL SECURITY",
                "ALTER TABLE t " + (random.nextInt(3) == 0 ? "FORCE" : "NO FORCE") + " ROW LEVEL SECURITY",
                "ALTER TABLE t OWNER TO " + (random.nextBoolean() ? roles.any(random) : "postgres"),
                "GRANT SELECT ON t TO " + String.join(", ", roles.names()));
        RandomExpression expressions = new RandomExpression(random, RandomExpression.Undecided.LEFT_OUT);
        List<String> written = new ArrayList<>();
        int count = 1 + random.nextInt(5);
        for (int i = 0; i < count; i++) {
            String using = random.nextInt(6) == 0 ? "true" : expressions.next();
            String command = List.of("ALL", "SELECT", "SELECT", "UPDATE", "DELETE", "INSERT")
                    .get(random.nextInt(6));
            String sql = "CREATE POLICY p" + random.nextInt(100) + "_" + i + " ON t AS "
                    + (random.nextInt(5) == 0 ? "RESTRICTIVE" : "PERMISSIVE") + " FOR " + command + " TO "
                    + (random.nextBoolean() ? "PUBLIC" : roles.any(random))
                    + (command.equals("INSERT") || (command.equals("ALL") && random.nextInt(8) == 0)
                            ? " WITH CHECK (true)"
                            : " USING (" + using + ")");
            written.add(sql);
            database.execute(sql);
        }
        return written;
    }

    private static void compare(Caller caller, List<String> policies, Tally tally) {
        Relation relation = Objects.requireNonNull(caller.catalog.relation("public", "t"));
        Role role = Objects.requireNonNull(caller.catalog.role(caller.role));
        RulePlan plan = new RlsResolver(ProbePermission.ALLOW).plan(caller.catalog, relation, role, PinnedColumns.NONE);
        RulePlan.Verdict verdict = plan.complete(caller.table.fold(caller.role, caller.claims, plan.folds()));
        Set<Integer> ours = new TreeSet<>();
        switch (verdict) {
            case RulePlan.Verdict.Refused(var code, var message) -> tally.refused++;
            case RulePlan.Verdict.Granted(var rule) -> {
                switch (rule.decision()) {
                    case Rule.Decision.Everything() -> {
                        tally.everything++;
                        for (int id = 1; id <= ROWS; id++) {
                            ours.add(id);
                        }
                    }
                    case Rule.Decision.Compiled(var predicate) -> {
                        tally.compiled++;
                        ours.addAll(visible(caller, relation, predicate));
                    }
                    case Rule.Decision.Probed(var sql) -> {
                        tally.probed++;
                        return;
                    }
                }
            }
        }
        judge(caller, policies, ours, tally);
    }

    private static List<Integer> visible(Caller caller, Relation relation, Predicate predicate) {
        List<Integer> visible = new ArrayList<>();
        int id = 0;
        for (RowImage row : caller.table.rows(relation)) {
            id++;
            try {
                if (predicate.test(row) == Truth.TRUE) {
                    visible.add(id);
                }
            } catch (EvaluationException raised) {
                // not visible
            }
        }
        return visible;
    }

    private static void judge(Caller caller, List<String> policies, Set<Integer> ours, Tally tally) {
        Set<Integer> theirs = new TreeSet<>();
        boolean raised = false;
        try {
            theirs.addAll(ids(caller, ""));
        } catch (IllegalStateException queryRaised) {
            raised = true;
            tally.raised++;
            for (int id = 1; id <= ROWS; id++) {
                try {
                    theirs.addAll(ids(caller, " WHERE id = " + id));
                } catch (IllegalStateException rowRaised) {
                    // not visible
                }
            }
        }
        tally.decisions += ROWS;
        tally.visible += ours.size();
        boolean agree = raised ? theirs.containsAll(ours) : theirs.equals(ours);
        boolean withheldMore = !agree && theirs.containsAll(ours);
        tally.withheldMore += withheldMore ? 1 : 0;
        if (!theirs.containsAll(ours) || (!agree && !caller.claims.contains("nobody"))) {
            tally.differences.add(
                    caller.role + " " + caller.claims + " " + policies + ": " + ours + " instead of " + theirs);
        }
    }

    private static List<Integer> ids(Caller caller, String where) {
        List<Integer> ids = new ArrayList<>();
        for (List<@Nullable String> row :
                caller.table.database().asRole(caller.role, caller.claims).rows("SELECT id FROM public.t" + where)) {
            ids.add(Integer.parseInt(String.valueOf(row.getFirst())));
        }
        return ids;
    }

    private static final class Tally {
        private final List<String> differences = new ArrayList<>();
        private int decisions;
        private int visible;
        private int everything;
        private int compiled;
        private int refused;
        private int probed;
        private int raised;
        private int withheldMore;

        @Override
        public String toString() {
            return decisions + " decisions, " + differences.size() + " differences, " + visible + " rows shown; rules: "
                    + everything + " A, " + compiled + " B, " + probed + " C, " + refused + " refused; " + raised
                    + " queries raised, " + withheldMore + " rules withheld more";
        }
    }

    /// Six roles with random attributes and memberships, and what the pool needs to become them.
    private record RoleGraph(List<String> names) {
        static RoleGraph create(PostgresDatabase database, Random random) {
            int major = database.cluster().major();
            List<String> names = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                String name = database.name() + "_r" + i;
                names.add(name);
                database.execute("CREATE ROLE " + name + (random.nextBoolean() ? " INHERIT" : " NOINHERIT")
                        + (random.nextInt(8) == 0 ? " BYPASSRLS" : ""));
                database.execute("GRANT USAGE ON SCHEMA auth, public TO " + name, "GRANT " + name + " TO sluice_authz");
                if (i > 0 && random.nextInt(3) > 0) {
                    String option =
                            major >= 16 && random.nextInt(3) == 0 ? " WITH INHERIT " + random.nextBoolean() : "";
                    database.execute("GRANT " + names.get(random.nextInt(i)) + " TO " + name + option);
                }
            }
            return new RoleGraph(List.copyOf(names));
        }

        String any(Random random) {
            return names.get(random.nextInt(names.size()));
        }

        void drop(PostgresDatabase database) {
            database.execute("ALTER TABLE t OWNER TO postgres");
            for (List<@Nullable String> name :
                    database.rows("SELECT polname FROM pg_policy WHERE polrelid = 't'::regclass")) {
                database.execute("DROP POLICY " + name.getFirst() + " ON t");
            }
            for (String name : names) {
                database.execute("DROP OWNED BY " + name, "DROP ROLE " + name);
            }
        }
    }
}
