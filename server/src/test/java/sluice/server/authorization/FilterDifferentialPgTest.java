package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.datum.EvaluationException;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterCompiler;
import sluice.core.expression.FilterSql;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTree;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.shape.Filter;
import sluice.core.shape.FilterParser;
import sluice.core.shape.ParsedTerm;
import sluice.core.value.Truth;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Random filters, decided three ways that must agree, NULL told apart from FALSE: in process, by PostgreSQL running
/// the condition a snapshot would run, and by PostgreSQL running what a person would write for the filter.
///
/// What is refused is judged too: PostgreSQL must raise for it, or it must be named as not supported yet.
class FilterDifferentialPgTest {
    private static final int ROWS = 30;
    private static final String CLAIMS = "{\"role\":\"authenticated\"}";

    @Test
    void every_filter_means_the_same_live_and_in_sql_on_postgresql_18() {
        compare(18, Boolean.getBoolean("sluice.long") ? 20_000 : 500);
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void a_sample_means_the_same_on_older_majors(int major) {
        compare(major, 100);
    }

    private static long seed() {
        return Long.getLong("sluice.seed", 20_261_129L);
    }

    private static void compare(int major, int filters) {
        Random random = new Random(seed());
        Tally tally = new Tally();
        try (PolicyTable table =
                FilterTable.create(PostgresCluster.of(major).createDatabase("filters"), random, ROWS)) {
            CatalogImage catalog = table.catalog(List.of("authenticated"));
            Relation relation = Objects.requireNonNull(catalog.relation("public", FilterTable.NAME));
            Judge judge = new Judge(table, catalog, relation, FilterTable.rows(table.database(), relation), tally);
            List<Pair> decided = judge.decided();
            for (int i = 0; i < filters; i++) {
                judge.judge(FilterParser.print(randomFilter(random, decided)), random);
            }
        }
        System.out.println("PostgreSQL " + major + ", seed " + seed() + ": " + tally);
        assertThat(tally.differences).isEmpty();
        assertThat(tally.decisions).isGreaterThan(filters * ROWS / 4);
        assertThat(tally.undecided).as("rows not decided").isLessThan(tally.decisions / 20);
        assertThat(tally.vacuous).as("filters with one answer only").isLessThan(tally.filters * 2 / 3);
    }

    private static FilterTree<ParsedTerm> randomFilter(Random random, List<Pair> decided) {
        List<FilterTree<ParsedTerm>> members = new ArrayList<>();
        for (int i = 1 + random.nextInt(2) * random.nextInt(3); i > 0; i--) {
            members.add(randomMember(random, decided, 0));
        }
        return FilterTree.every(members);
    }

    private static FilterTree<ParsedTerm> randomMember(Random random, List<Pair> decided, int depth) {
        Negation negation = random.nextInt(3) == 0 ? Negation.NEGATED : Negation.PLAIN;
        if (depth < 2 && random.nextInt(4) == 0) {
            List<FilterTree<ParsedTerm>> members = new ArrayList<>();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                members.add(randomMember(random, decided, depth + 1));
            }
            return new FilterTree.Group<>(pick(random, List.of(FilterTree.Connective.values())), negation, members);
        }
        Pair pair = random.nextInt(8) == 0
                ? new Pair(pick(random, FilterTable.KINDS), pick(random, List.of(FilterTerm.Operator.values())))
                : pick(random, decided);
        FilterTable.Kind kind = pair.kind;
        FilterTerm.Operator operator = pair.operator;
        List<String> values = new ArrayList<>();
        switch (operator.operands()) {
            case NONE -> {}
            case ONE ->
                values.add(
                        operator == FilterTerm.Operator.LIKE || operator == FilterTerm.Operator.ILIKE
                                ? pick(random, List.of("a*", "*b", "_", "a\\*", "*", "", "é", "A", "\\_", "*a*b*"))
                                : pick(random, kind.literals()));
            case SEVERAL -> {
                for (int i = 1 + random.nextInt(3); i > 0; i--) {
                    values.add(pick(random, kind.literals()));
                }
            }
        }
        return new FilterTree.Leaf<>(new ParsedTerm(kind.name(), operator, values, negation));
    }

    private static <T> T pick(Random random, List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private record Pair(FilterTable.Kind kind, FilterTerm.Operator operator) {}

    private record Condition(ParsedTerm term, Column column) {}

    private record Judge(PolicyTable table, CatalogImage catalog, Relation relation, List<RowImage> rows, Tally tally) {
        void judge(String text, Random random) {
            FilterTree<ParsedTerm> parsed = FilterParser.parse(text);
            Filter filter;
            try {
                filter = resolve(parsed);
            } catch (RequestException refused) {
                refused(text, parsed, refused);
                return;
            }
            List<@Nullable Truth> ours = decide(filter, rows);
            FilterSql sql = filter.sql(catalog);
            List<@Nullable Truth> snapshot = ask(sql.condition(), sql.parameters());
            List<@Nullable Truth> plain = ask(plainSql(parsed), List.of());
            tally.filters++;
            tally.decisions += rows.size();
            tally.vacuous += ours.stream().distinct().count() == 1 ? 1 : 0;
            tally.undecided +=
                    (int) ours.stream().filter(Truth.UNDECIDABLE::equals).count();
            if (!agree(ours, snapshot) || !agree(ours, plain)) {
                tally.differences.add(
                        text + "\n  ours     " + ours + "\n  snapshot " + snapshot + "\n  plain    " + plain);
            }
            if (!decide(resolve(FilterParser.parse(filter.text())), rows).equals(ours)) {
                tally.differences.add(text + " is not what its own text says: " + filter.text());
            }
            compareHidden(text, filter, ours, random.nextInt(FilterTable.KINDS.size() + 1));
        }

        /// A value that is not computed here is withheld; where PostgreSQL raises nothing is shown.
        private static boolean agree(List<@Nullable Truth> ours, List<@Nullable Truth> theirs) {
            for (int i = 0; i < ours.size(); i++) {
                boolean same = theirs.get(i) == null ? ours.get(i) != Truth.TRUE : ours.get(i) == theirs.get(i);
                if (!same && ours.get(i) != Truth.UNDECIDABLE) {
                    return false;
                }
            }
            return true;
        }

        /// A column the log does not carry may only make an answer undecidable.
        private void compareHidden(String text, Filter filter, List<@Nullable Truth> ours, int position) {
            List<RowImage> hiding = new ArrayList<>();
            for (RowImage row : rows) {
                hiding.add(new RowImage(PolicyTable.hiding(row.tuple(), position), row.mapping(), row.at()));
            }
            List<@Nullable Truth> hidden = decide(filter, hiding);
            for (int i = 0; i < hidden.size(); i++) {
                if (hidden.get(i) != Truth.UNDECIDABLE && hidden.get(i) != ours.get(i)) {
                    tally.differences.add(text + " without column " + position + ": " + hidden.get(i));
                }
            }
        }

        /// What is not refused before anything is asked.
        List<Pair> decided() {
            List<Pair> decided = new ArrayList<>();
            for (FilterTable.Kind kind : FilterTable.KINDS) {
                for (FilterTerm.Operator operator : FilterTerm.Operator.values()) {
                    try {
                        FilterCompiler.check(catalog, Objects.requireNonNull(relation.column(kind.name())), operator);
                        decided.add(new Pair(kind, operator));
                    } catch (RequestException refused) {
                        if (refused.getMessage().contains("not supported yet")) {
                            tally.notSupported.add(operator.spelling() + " " + kind.type());
                        }
                    }
                }
            }
            tally.decided = decided.size();
            return decided;
        }

        private Filter resolve(FilterTree<ParsedTerm> parsed) {
            FilterTree<Condition> conditions =
                    parsed.map(term -> new Condition(term, Objects.requireNonNull(relation.column(term.column()))));
            List<Fold> folds = new ArrayList<>();
            for (Condition condition : conditions.terms()) {
                FilterCompiler.check(catalog, condition.column, condition.term.operator());
                for (String literal : condition.term.literals()) {
                    folds.add(FilterCompiler.literal(catalog, condition.column, condition.term.operator(), literal));
                }
            }
            Iterator<FoldAnswer> answers =
                    table.fold("authenticated", CLAIMS, folds).iterator();
            return Filter.of(catalog, conditions.map(condition -> resolved(condition, answers)));
        }

        private FilterTerm resolved(Condition condition, Iterator<FoldAnswer> answers) {
            List<String> constants = new ArrayList<>();
            for (String _ : condition.term.values()) {
                switch (answers.next()) {
                    case FoldAnswer.Value(var spelled) -> constants.add(Objects.requireNonNull(spelled));
                    case FoldAnswer.Raised(var sqlState) ->
                        throw new RequestException(ErrorCode.INVALID_FILTER, "SQLSTATE " + sqlState);
                }
            }
            return new FilterTerm(
                    condition.column,
                    condition.term.operator(),
                    constants,
                    condition.term.negation(),
                    EqualTexts.of(catalog.type(condition.column.typeOid())));
        }

        private void refused(String text, FilterTree<ParsedTerm> parsed, RequestException refused) {
            if (refused.getMessage().contains("not supported yet")) {
                return;
            }
            tally.refused++;
            if (ask(plainSql(parsed), List.of()).stream().anyMatch(Objects::nonNull)) {
                tally.differences.add(text + " is refused, and PostgreSQL answers: " + refused.getMessage());
            }
        }

        /// By row, null where PostgreSQL raises.
        private List<@Nullable Truth> ask(String condition, List<String> parameters) {
            List<Object> twice = new ArrayList<>(parameters);
            twice.addAll(parameters);
            String query = "SELECT (" + condition + ") IS TRUE, (" + condition + ") IS NULL FROM public.\""
                    + FilterTable.NAME + "\"";
            PostgresDatabase database = table.database();
            List<@Nullable Truth> answers = new ArrayList<>();
            try {
                for (List<@Nullable String> row : database.rows(query + " ORDER BY id", twice.toArray())) {
                    answers.add("t".equals(row.getLast()) ? Truth.NULL : Truth.of("t".equals(row.getFirst())));
                }
            } catch (IllegalStateException raised) {
                answers.clear();
                rows.forEach(row -> answers.add(null));
            }
            return answers;
        }
    }

    private static List<@Nullable Truth> decide(Filter filter, List<RowImage> rows) {
        List<@Nullable Truth> answers = new ArrayList<>();
        for (RowImage row : rows) {
            try {
                answers.add(filter.predicate().test(row));
            } catch (EvaluationException raised) {
                answers.add(null);
            }
        }
        return answers;
    }

    /// What a person would write: literals without a type, operators by their names.
    private static String plainSql(FilterTree<ParsedTerm> filter) {
        return switch (filter) {
            case FilterTree.Leaf<ParsedTerm>(var term) -> negated(plainSql(term), term.negation());
            case FilterTree.Group<ParsedTerm>(var connective, var negation, var members) -> {
                List<String> written = new ArrayList<>();
                members.forEach(member -> written.add("(" + plainSql(member) + ")"));
                yield negated(
                        String.join(connective == FilterTree.Connective.AND ? " AND " : " OR ", written), negation);
            }
        };
    }

    private static String negated(String condition, Negation negation) {
        return negation == Negation.NEGATED ? "NOT (" + condition + ")" : condition;
    }

    private static String plainSql(ParsedTerm term) {
        String column = "\"" + term.column().replace("\"", "\"\"") + "\"";
        List<String> literals = new ArrayList<>();
        term.values().forEach(value -> literals.add("'" + value.replace("'", "''") + "'"));
        String first = literals.isEmpty() ? "" : literals.getFirst();
        return switch (term.operator()) {
            case EQUAL -> column + " = " + first;
            case NOT_EQUAL -> column + " <> " + first;
            case LESS -> column + " < " + first;
            case LESS_OR_EQUAL -> column + " <= " + first;
            case GREATER -> column + " > " + first;
            case GREATER_OR_EQUAL -> column + " >= " + first;
            // the only asterisk behind a backslash in these filters is a whole `\*`
            case LIKE -> column + " LIKE " + first.replaceAll("(?<!\\\\)\\*", "%");
            case ILIKE -> column + " ILIKE " + first.replaceAll("(?<!\\\\)\\*", "%");
            case IN -> column + " IN (" + String.join(", ", literals) + ")";
            case IS_NULL -> column + " IS NULL";
            case IS_TRUE -> column + " IS TRUE";
            case IS_FALSE -> column + " IS FALSE";
            case IS_UNKNOWN -> column + " IS UNKNOWN";
        };
    }

    private static final class Tally {
        private final List<String> differences = new ArrayList<>();
        private final Set<String> notSupported = new TreeSet<>();
        private int decided;
        private int filters;
        private int decisions;
        private int undecided;
        private int vacuous;
        private int refused;

        @Override
        public String toString() {
            return decided + " operators on types decided, " + filters + " filters, " + decisions + " decisions, "
                    + undecided
                    + " undecided, " + differences.size() + " differences, " + vacuous
                    + " filters with one answer only, " + refused + " refused as PostgreSQL refuses them, "
                    + notSupported.size() + " operators on types not supported yet"
                    + (Boolean.getBoolean("sluice.long") ? ": " + notSupported : "");
        }
    }
}
