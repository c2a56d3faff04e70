package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.PolicyComposer;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.session.Identity;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.seed.SeededRandom;

/// Random owners, flags, roles, memberships, TO lists and grants: our rule shows the rows PostgreSQL shows, and is
/// put together from the very policies, in the very order, that PostgreSQL's rewriter puts into the query.
class RowSecurityJudgePgTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int DIFFERENCES_TOLD = 20;
    private static final List<String> CLAIMS = List.of(
            "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\",\"team\":\"a\",\"level\":1}",
            "{\"sub\":\"00000000-0000-0000-0000-00000000000b\",\"role\":1,\"team\":[\"a\"],\"level\":null}",
            "{\"team\":\"it's\",\"level\":\"high\"}",
            "");

    @Test
    void shows_what_postgresql_18_shows() {
        int tables = Boolean.getBoolean("sluice.long") ? 600 : 40;
        judge(PostgresCluster.NEWEST, DatabaseOptions.plain(), tables);
        judge(PostgresCluster.NEWEST, DatabaseOptions.plain().icu("en-US"), tables / 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void shows_what_older_majors_show(int major) {
        judge(major, DatabaseOptions.plain(), 12);
    }

    private static void judge(int major, DatabaseOptions options, int tables) {
        Tally tally = tally(major, options, tables);
        System.out.println("PostgreSQL " + major + ", seed " + seed() + ": " + tally);
        assertThat(tally.differences.stream().limit(DIFFERENCES_TOLD)).isEmpty();
        assertThat(tally.shown).as("rows shown").isGreaterThan(tally.decisions / 10);
        assertThat(tally.shown).as("rows shown").isLessThan(tally.decisions * 9 / 10);
    }

    /// Empty when there is none.
    static String firstDifference(int major, int tables) {
        return tally(major, DatabaseOptions.plain(), tables).differences.stream()
                .findFirst()
                .orElse("");
    }

    private static long seed() {
        return Long.getLong("sluice.seed", 4L);
    }

    private static Tally tally(int major, DatabaseOptions options, int tables) {
        Tally tally = new Tally();
        try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("guarded", options)) {
            GuardedTables guarded = new GuardedTables(database, new SeededRandom(seed()));
            guarded.create(tables);
            try (Pool pool = Pool.open(
                            PostgresUrl.parse(database.url("sluice_authz")),
                            new Pool.Sizing(2, 1, TIMEOUT),
                            Pool.Reset.ROLLBACK);
                    Connection printing = printing(database)) {
                CatalogImage catalog = CatalogLoader.start(pool, GuardedTables.PUBLICATION, guarded.roles(), TIMEOUT)
                        .load(new CatalogScope.Everything(), TIMEOUT);
                Judged judged = new Judged(database, printing, catalog, new CallerQueries(pool, TIMEOUT), tally);
                for (int table = 0; table < tables; table++) {
                    for (String role : guarded.roles()) {
                        judged.one(GuardedTables.table(catalog, table), role);
                    }
                }
            }
            guarded.dropRoles();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return tally;
    }

    private static Connection printing(PostgresDatabase database) throws SQLException {
        Connection connection = database.connect();
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "SET client_min_messages = log; SET debug_pretty_print = off;" + " SET debug_print_rewritten = on");
        }
        return connection;
    }

    private static final class Tally {
        private final List<String> differences = new ArrayList<>();
        private int decisions;
        private int shown;
        private int compositions;
        private int probed;
        private int raised;

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%,d row decisions, %,d rows shown, %,d compositions compared, %d differences; %,d rules left to"
                            + " PostgreSQL, %,d queries raised",
                    decisions,
                    shown,
                    compositions,
                    differences.size(),
                    probed,
                    raised);
        }
    }

    /// @param printing a session that is told of each rewritten query
    private record Judged(
            PostgresDatabase database, Connection printing, CatalogImage catalog, CallerQueries callers, Tally tally) {
        void one(Relation relation, String roleName) {
            Role role = Objects.requireNonNull(catalog.role(roleName));
            composition(relation, role);
            RulePlan plan = new RlsResolver(ProbePermission.ALLOW).plan(catalog, relation, role, PinnedColumns.NONE);
            for (String claims : CLAIMS) {
                List<FoldAnswer> answers = plan.folds().isEmpty()
                        ? List.of()
                        : callers.fold(new Identity(null, roleName, claims, Instant.MAX), plan.folds())
                                .value();
                switch (plan.complete(answers)) {
                    case RulePlan.Verdict.Refused ignored -> compare(relation, roleName, claims, Set.of());
                    case RulePlan.Verdict.Granted(var rule) -> {
                        Set<Integer> ours = shown(relation, rule.decision());
                        if (ours == null) {
                            tally.probed++;
                        } else {
                            compare(relation, roleName, claims, ours);
                        }
                    }
                }
            }
        }

        /// Null when PostgreSQL decides.
        private @Nullable Set<Integer> shown(Relation relation, Rule.Decision decision) {
            return switch (decision) {
                case Rule.Decision.Everything() -> {
                    Set<Integer> all = new TreeSet<>();
                    for (int id = 1; id <= GuardedTables.ROWS; id++) {
                        all.add(id);
                    }
                    yield all;
                }
                case Rule.Decision.Compiled(var predicate) -> visible(relation, predicate);
                case Rule.Decision.Probed ignored -> null;
            };
        }

        private Set<Integer> visible(Relation relation, Predicate predicate) {
            Set<Integer> visible = new TreeSet<>();
            int id = 0;
            for (List<@Nullable String> row : database.rows("SELECT * FROM " + relation.name() + " ORDER BY id")) {
                id++;
                RowImage image =
                        new RowImage(JudgedDatabase.tuple(row), GuardedTables.mapping(relation), Instant.EPOCH);
                if (Court.answer(predicate, image) == 't') {
                    visible.add(id);
                }
            }
            return visible;
        }

        private void compare(Relation relation, String role, String claims, Set<Integer> ours) {
            Set<Integer> theirs = new TreeSet<>();
            boolean queryRaised = false;
            try {
                theirs.addAll(ids(relation, role, claims, ""));
            } catch (IllegalStateException raised) {
                queryRaised = true;
                tally.raised++;
                for (int id = 1; id <= GuardedTables.ROWS; id++) {
                    try {
                        theirs.addAll(ids(relation, role, claims, " WHERE id = " + id));
                    } catch (IllegalStateException rowRaised) {
                        // a row whose query raises is not visible
                    }
                }
            }
            tally.decisions += GuardedTables.ROWS;
            tally.shown += ours.size();
            if (!(queryRaised ? theirs.containsAll(ours) : theirs.equals(ours))) {
                tally.differences.add(relation.name() + " for " + role + " with " + claims + ": " + ours
                        + " instead of " + theirs + ", policies " + relation.policies());
            }
        }

        private List<Integer> ids(Relation relation, String role, String claims, String where) {
            List<Integer> ids = new ArrayList<>();
            for (List<@Nullable String> row :
                    database.asRole(role, claims).rows("SELECT id FROM " + relation.name() + where)) {
                ids.add(Integer.parseInt(String.valueOf(row.getFirst())));
            }
            return ids;
        }

        /// What the rewriter adds to a query of the role, against the trees of the policies we would evaluate.
        private void composition(Relation relation, Role role) {
            String ours = TreeText.normal(
                    switch (PolicyComposer.compose(relation, role)) {
                        case PolicyComposer.Composition.Unrestricted ignored -> "<>";
                        case PolicyComposer.Composition.NothingVisible() -> "nothing";
                        case PolicyComposer.Composition.Policies policies -> quals(policies);
                    });
            String theirs = TreeText.normal(TreeText.securityQuals(rewritten(relation, role)));
            boolean nothing = ours.equals("nothing") && theirs.contains("{CONST") && !theirs.contains("{VAR");
            tally.compositions++;
            if (!ours.equals(theirs) && !nothing) {
                tally.differences.add(relation.name() + " for " + role.name() + " is composed of other parts, first at "
                        + TreeText.firstDifference(ours, theirs));
            }
        }

        /// The rewriter adds each condition once, however many policies have it.
        private static String quals(PolicyComposer.Composition.Policies policies) {
            Set<String> quals = new LinkedHashSet<>();
            policies.restrictive().forEach(policy -> quals.add(TreeText.normal(String.valueOf(policy.tree()))));
            List<String> permissive = new ArrayList<>();
            policies.permissive().forEach(policy -> permissive.add(String.valueOf(policy.tree())));
            quals.add(TreeText.normal(
                    permissive.size() == 1
                            ? permissive.getFirst()
                            : "{BOOLEXPR :boolop or :args (" + String.join(" ", permissive) + ") :location -1}"));
            return "(" + String.join(" ", quals) + ")";
        }

        private String rewritten(Relation relation, Role role) {
            try (Statement statement = printing.createStatement()) {
                statement.execute("SET ROLE " + role.name());
                statement.execute("PREPARE x AS SELECT FROM public." + relation.name());
                StringBuilder text = new StringBuilder();
                for (SQLWarning warning = statement.getWarnings();
                        warning != null;
                        warning = warning.getNextWarning()) {
                    text.append(warning.getMessage()).append(' ');
                    if (warning instanceof org.postgresql.util.PSQLWarning server
                            && server.getServerErrorMessage() != null) {
                        text.append(server.getServerErrorMessage().getDetail());
                    }
                }
                statement.execute("RESET ROLE; DEALLOCATE x");
                return text.toString();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
