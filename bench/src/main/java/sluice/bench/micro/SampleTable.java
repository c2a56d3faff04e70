package sluice.bench.micro;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.datum.ValueTypes;
import sluice.core.expression.Answers;
import sluice.core.expression.Compiler;
import sluice.core.expression.Expression;
import sluice.core.expression.ExpressionReader;
import sluice.core.expression.FoldList;
import sluice.core.expression.Parts;
import sluice.core.expression.PolicyTree;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.core.value.Truth;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;

/// One table with two rows and every {@link SamplePolicy} in a real PostgreSQL, from where a policy comes back the
/// way the server reads it: the stored tree, the parts without a column answered under the caller, compiled.
public final class SampleTable {
    /// Who asks.
    static final String CLAIMS =
            "{\"sub\":\"5eed0000-0000-4000-8000-00000000a11c\",\"role\":\"authenticated\",\"team\":"
                    + "\"research and development\"}";

    private static final String PUBLICATION = "sluice";
    private static final String ROLE = "authenticated";
    private static final String NAME = "bench_policies";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final String TABLE = """
        CREATE TABLE public.bench_policies (
          id bigint PRIMARY KEY, owner_id uuid NOT NULL, team text NOT NULL, status int NOT NULL,
          score int NOT NULL, published bool NOT NULL, title text NOT NULL, amount numeric(12,2) NOT NULL,
          expires_at timestamptz NOT NULL, tags text[] NOT NULL, attributes jsonb NOT NULL, body text NOT NULL);
        ALTER TABLE public.bench_policies ENABLE ROW LEVEL SECURITY;
        ALTER PUBLICATION sluice ADD TABLE public.bench_policies;
        INSERT INTO public.bench_policies VALUES
          (1234567, '5eed0000-0000-4000-8000-00000000a11c', 'research and development', 8, 25, true,
            'Report of the third quarter, second draft', 1249.50, '2199-12-31 23:59:59.5+00',
            '{draft,internal,public}',
            '{"plan": "pro", "seats": 25, "region": "eu-west", "labels": ["a", "b"], "trial": false}',
            repeat('the quick brown fox jumps over the lazy dog ', 10)),
          (1234568, '5eed0000-0000-4000-8000-00000000b0b0', 'research and deployment', 7, 25, true,
            'Reporting on the third quarter, second draft', 99.50, '2019-12-31 23:59:59.5+00',
            '{draft,internal,secret}',
            '{"plan": "free", "seats": 25, "region": "eu-west", "labels": ["a", "b"], "trial": false}',
            repeat('the quick brown fox jumps over the lazy dog ', 10));
        """;

    private final String jdbcUrl;
    private final String callersUrl;

    /// @param jdbcUrl for the owner of everything
    /// @param callersUrl for a user that may take the role `authenticated`
    public SampleTable(String jdbcUrl, String callersUrl) {
        this.jdbcUrl = jdbcUrl;
        this.callersUrl = callersUrl;
    }

    /// Which of the two rows.
    public enum Candidate {
        MATCHING(1_234_567),
        OTHER(1_234_568);

        private final int id;

        Candidate(int id) {
            this.id = id;
        }

        Truth answer() {
            return Truth.of(this == MATCHING);
        }
    }

    /// A compiled policy and the row it judges.
    record Trial(Predicate predicate, RowImage row) {}

    /// Makes the table, its rows and its policies.
    public void create() throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
            for (SamplePolicy policy : SamplePolicy.values()) {
                statement.execute("CREATE POLICY " + policy.policyName() + " ON public." + NAME
                        + " FOR SELECT TO authenticated USING (" + policy.condition() + ")");
            }
        }
    }

    /// @throws IllegalStateException when the policy is not decided in process, or otherwise than by PostgreSQL
    Trial trial(SamplePolicy policy, Candidate candidate) throws SQLException {
        try (Pool pool =
                Pool.open(PostgresUrl.parse(callersUrl), new Pool.Sizing(1, 1, TIMEOUT), Pool.Reset.ROLLBACK)) {
            CatalogImage catalog = CatalogLoader.start(pool, PUBLICATION, List.of(ROLE), TIMEOUT)
                    .load(new CatalogScope.Everything(), TIMEOUT);
            Relation relation = Objects.requireNonNull(catalog.relation("public", NAME));
            Predicate predicate = Compiler.compile(read(policy, catalog, relation, new CallerQueries(pool, TIMEOUT)));
            RowImage row = row(policy, candidate, relation);
            Truth ours = predicate.test(row);
            if (ours != candidate.answer()) {
                throw new IllegalStateException(policy + " is " + ours + " in process for the row " + candidate);
            }
            return new Trial(predicate, row);
        }
    }

    private static Expression read(
            SamplePolicy policy, CatalogImage catalog, Relation relation, CallerQueries callers) {
        FoldList folds = new FoldList();
        Expression read = new ExpressionReader(catalog, relation, Map.of(), folds, policy.policyName())
                .read(PolicyTree.read(tree(relation, policy)));
        Identity caller = new Identity(null, ROLE, CLAIMS, Instant.MAX);
        Expression expression = folds.folds().isEmpty()
                ? read
                : new Answers(callers.fold(caller, folds.folds()).value(), Map.of()).substitute(read);
        String obstacle = Parts.unsupported(expression);
        if (obstacle != null) {
            throw new IllegalStateException(obstacle);
        }
        return expression;
    }

    private static String tree(Relation relation, SamplePolicy policy) {
        for (Policy stored : relation.policies()) {
            if (stored.name().equals(policy.policyName())) {
                return Objects.requireNonNull(stored.tree());
            }
        }
        throw new IllegalStateException("no policy " + policy.policyName());
    }

    /// The row as the log would carry it, after PostgreSQL has said the same of it.
    private RowImage row(SamplePolicy policy, Candidate candidate, Relation relation) throws SQLException {
        List<RelationDefinition.Column> columns = new ArrayList<>();
        StringBuilder select = new StringBuilder();
        for (Column column : relation.columns()) {
            columns.add(new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false));
            boolean truth = column.typeOid() == ValueTypes.BOOL.oid();
            select.append(truth ? "left(" : "").append(column.name()).append(truth ? "::text, 1), " : "::text, ");
        }
        RelationDefinition definition =
                new RelationDefinition(relation.oid(), relation.schema(), relation.name(), 'd', columns);
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL timezone = 'UTC'");
            statement.execute("SELECT set_config('request.jwt.claims', '" + CLAIMS + "', true)");
            try (ResultSet row = statement.executeQuery("SELECT " + select + "(" + policy.condition() + ") FROM public."
                    + NAME + " WHERE id = " + candidate.id)) {
                row.next();
                if (Truth.of(row.getBoolean(columns.size() + 1)) != candidate.answer()) {
                    throw new IllegalStateException(policy + " is otherwise in PostgreSQL for the row " + candidate);
                }
                return new RowImage(tuple(row, columns.size()), ColumnMapping.of(definition, relation), Instant.now());
            }
        }
    }

    private static Tuple tuple(ResultSet row, int count) throws SQLException {
        Tuple.Kind[] kinds = new Tuple.Kind[count];
        int[] offsets = new int[count];
        int[] lengths = new int[count];
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            String text = row.getString(i + 1);
            kinds[i] = text == null ? Tuple.Kind.NULL : Tuple.Kind.TEXT;
            if (text != null) {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                offsets[i] = bytes.size();
                lengths[i] = utf8.length;
                bytes.writeBytes(utf8);
            }
        }
        return new Tuple(bytes.toByteArray(), kinds, offsets, lengths);
    }
}
