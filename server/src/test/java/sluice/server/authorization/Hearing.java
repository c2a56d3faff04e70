package sluice.server.authorization;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.datum.EvaluationException;
import sluice.core.expression.Answers;
import sluice.core.expression.Compiler;
import sluice.core.expression.Expression;
import sluice.core.expression.ExpressionReader;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.FoldList;
import sluice.core.expression.Parts;
import sluice.core.expression.PolicyTree;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.testkit.PostgresDatabase;

/// Policies over one table, each decided in process from the tree PostgreSQL stored, and by PostgreSQL itself.
///
/// Both answer with a letter for each row by id: `t`, `f`, `n` for NULL, `u` for undecidable, `e` for an error.
///
/// @param table whose database has the relation
/// @param relation its name in schema public; it has a column `id` and row-level security
/// @param role who asks
record Hearing(PolicyTable table, String relation, String role) {
    private static final String CLOCK = "to_char(now(), 'YYYY-MM-DD\"T\"HH24:MI:SS.USZ')";

    /// What came of one expression.
    ///
    /// @param obstacle why it is not decided in process, null when it is; `ours` is then empty
    record Outcome(String expression, @Nullable String obstacle, String ours, String theirs) {
        /// Whether both say the same of every row.
        boolean agrees() {
            return obstacle == null && ours.equals(theirs);
        }

        /// The same, where a row may be left undecided: its letters' other case is not known here.
        boolean agreesWhereItKnows() {
            boolean agrees = obstacle == null && ours.length() == theirs.length();
            for (int i = 0; agrees && i < ours.length(); i++) {
                agrees = ours.charAt(i) == 'u' || ours.charAt(i) == theirs.charAt(i);
            }
            return agrees;
        }

        @Override
        public String toString() {
            return expression + ": " + (obstacle == null ? ours + ", PostgreSQL " + theirs : obstacle);
        }
    }

    Outcome one(String claims, String expression) {
        return all(claims, List.of(expression)).getFirst();
    }

    List<Outcome> all(String claims, List<String> expressions) {
        List<Expression> read = new ArrayList<>();
        List<FoldList> folds = new ArrayList<>();
        CatalogImage catalog = read(expressions, read, folds);
        Relation described = Objects.requireNonNull(catalog.relation("public", relation));
        List<FoldAnswer> answers = answers(claims, folds);
        List<Outcome> outcomes = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < read.size(); i++) {
            int to = from + folds.get(i).folds().size();
            outcomes.add(outcome(claims, described, expressions.get(i), read.get(i), answers.subList(from, to)));
            from = to;
        }
        return outcomes;
    }

    /// All answered at once.
    private List<FoldAnswer> answers(String claims, List<FoldList> folds) {
        List<Fold> all = new ArrayList<>();
        folds.forEach(list -> all.addAll(list.folds()));
        return all.isEmpty() ? List.of() : table.fold(role, claims, all);
    }

    /// Stores each as a policy and understands it, then drops the policies.
    private CatalogImage read(List<String> expressions, List<Expression> read, List<FoldList> folds) {
        PostgresDatabase database = table.database();
        for (int i = 0; i < expressions.size(); i++) {
            database.execute("CREATE POLICY h" + i + " ON " + name() + " USING (" + expressions.get(i) + ")");
        }
        CatalogImage catalog = table.catalog(List.of(role));
        Relation described = Objects.requireNonNull(catalog.relation("public", relation));
        for (int i = 0; i < expressions.size(); i++) {
            String tree = tree(described, "h" + i);
            FoldList list = new FoldList();
            folds.add(list);
            read.add(new ExpressionReader(catalog, described, Map.of(), list, "it").read(PolicyTree.read(tree)));
            database.execute("DROP POLICY h" + i + " ON " + name());
        }
        return catalog;
    }

    private static String tree(Relation relation, String policy) {
        for (Policy stored : relation.policies()) {
            if (stored.name().equals(policy)) {
                return Objects.requireNonNull(stored.tree());
            }
        }
        throw new AssertionError("no policy " + policy);
    }

    private Outcome outcome(String claims, Relation described, String text, Expression read, List<FoldAnswer> answers) {
        Answers answered = new Answers(answers, Map.of());
        Expression expression = answered.substitute(read);
        boolean raised = answered.raisedForEveryRow(read) != null;
        String obstacle = Parts.unsupported(expression);
        Theirs theirs = postgres(claims, text);
        if (obstacle != null) {
            return new Outcome(text, obstacle, "", theirs.letters);
        }
        Predicate predicate = Compiler.compile(expression);
        StringBuilder ours = new StringBuilder();
        for (RowImage row : table.rows(described, theirs.at)) {
            ours.append(raised ? 'e' : letter(predicate, row));
        }
        return new Outcome(text, null, ours.toString(), theirs.letters);
    }

    static char letter(Predicate predicate, RowImage row) {
        try {
            return switch (predicate.test(row)) {
                case TRUE -> 't';
                case FALSE -> 'f';
                case NULL -> 'n';
                case UNDECIDABLE -> 'u';
            };
        } catch (EvaluationException raised) {
            return 'e';
        }
    }

    /// The predicate of one expression that is decided in process.
    Predicate predicate(String claims, String expression) {
        List<Expression> read = new ArrayList<>();
        List<FoldList> folds = new ArrayList<>();
        CatalogImage ignored = read(List.of(expression), read, folds);
        return Compiler.compile(new Answers(answers(claims, folds), Map.of()).substitute(read.getFirst()));
    }

    List<RowImage> images() {
        return table.rows(
                Objects.requireNonNull(table.catalog(List.of(role)).relation("public", relation)), Instant.EPOCH);
    }

    private record Theirs(String letters, Instant at) {}

    private Theirs postgres(String claims, String expression) {
        PostgresDatabase database = table.database();
        database.execute("ALTER TABLE " + name() + " DISABLE ROW LEVEL SECURITY");
        try {
            if (!canBePlanned(claims, expression)) {
                int rows = database.rows("SELECT FROM " + name()).size();
                return new Theirs("e".repeat(rows), Instant.EPOCH);
            }
            return answered(claims, expression, "");
        } catch (IllegalStateException raised) {
            StringBuilder letters = new StringBuilder();
            Instant at = Instant.EPOCH;
            for (List<@Nullable String> id : database.rows("SELECT id FROM " + name() + " ORDER BY id")) {
                try {
                    Theirs one = answered(claims, expression, " WHERE id = " + id.getFirst());
                    letters.append(one.letters);
                    at = one.at;
                } catch (IllegalStateException error) {
                    letters.append('e');
                }
            }
            return new Theirs(letters.toString(), at);
        } finally {
            database.execute("ALTER TABLE " + name() + " ENABLE ROW LEVEL SECURITY");
        }
    }

    /// Whether a query that has the expression as its condition comes as far as reading rows.
    private boolean canBePlanned(String claims, String expression) {
        try {
            List<List<@Nullable String>> ignored = table.database()
                    .asRole(role, claims)
                    .rows("EXPLAIN SELECT FROM " + name() + " WHERE " + expression.replace("?", "??"));
            return true;
        } catch (IllegalStateException raised) {
            return false;
        }
    }

    private Theirs answered(String claims, String expression, String where) {
        String asked = expression.replace("?", "??");
        StringBuilder letters = new StringBuilder();
        Instant at = Instant.EPOCH;
        for (List<@Nullable String> row : table.database()
                .asRole(role, claims)
                .rows("SELECT (" + asked + ") IS TRUE, (" + asked + ") IS NULL, " + CLOCK + " FROM " + name() + where
                        + " ORDER BY id")) {
            letters.append("t".equals(row.getFirst()) ? 't' : "t".equals(row.get(1)) ? 'n' : 'f');
            at = Instant.parse(String.valueOf(row.getLast()));
        }
        return new Theirs(letters.toString(), at);
    }

    private String name() {
        return "public.\"" + relation.replace("\"", "\"\"") + "\"";
    }

    /// What the planner makes of the policies the table has now.
    RulePlan.Verdict verdict(String claims, PinnedColumns pinned) {
        CatalogImage catalog = table.catalog(List.of(role));
        Role of = Objects.requireNonNull(catalog.role(role));
        Relation described = Objects.requireNonNull(catalog.relation("public", relation));
        RulePlan plan = new RlsResolver(ProbePermission.ALLOW).plan(catalog, described, of, pinned);
        return plan.complete(plan.folds().isEmpty() ? List.of() : table.fold(role, claims, plan.folds()));
    }

    /// The ids PostgreSQL shows the caller under the table's policies.
    List<String> visible(String claims) {
        List<String> ids = new ArrayList<>();
        for (List<@Nullable String> row :
                table.database().asRole(role, claims).rows("SELECT id FROM " + name() + " ORDER BY id")) {
            ids.add(String.valueOf(row.getFirst()));
        }
        return ids;
    }
}
