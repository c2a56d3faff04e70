package sluice.server.recorded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CallerQueries;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.RightsPoll;
import sluice.server.postgres.query.Stamped;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.recorded.Recording;
import sluice.testkit.recorded.Recording.Caller;
import sluice.testkit.recorded.Recording.Row;
import sluice.testkit.recorded.Recording.State;
import sluice.testkit.recorded.Recording.Table;
import sluice.testkit.recorded.Recording.TableState;
import sluice.testkit.recorded.Recording.View;
import sluice.testkit.seed.SeededRandom;

/// Makes a recording: random tables, policies, grants and writes on a database of its own, and after each commit
/// PostgreSQL's word on what every caller sees.
final class Recorder implements AutoCloseable {
    private static final String SLOT = "recording";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Map<String, String> SUBJECTS = subjects();
    private static final List<Caller> CALLERS = List.of(
            new Caller("alice", "x", "authenticated"),
            new Caller("alice", "y", "authenticated"),
            new Caller("bob", "x", "authenticated"),
            new Caller("bob", "y", "authenticated"),
            new Caller("carol", "x", "anon"),
            new Caller("carol", "y", "anon"),
            new Caller("alice", "x", "service_role"),
            new Caller("alice", "y", "service_role"));
    private static final List<String> ROLES = List.of("anon", "authenticated", "service_role");

    private final PostgresDatabase database;
    private final SeededRandom random;
    private final Connection connection;
    private final Pool pool;
    private final CatalogLoader loader;
    private final RightsPoll poll;
    private final ObjectMapper mapper = Recording.mapper();

    private final List<RandomTable> tables = new ArrayList<>();
    private final Map<String, Integer> rightsSerials = new LinkedHashMap<>();
    private final List<CatalogImage> images = new ArrayList<>();
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, Integer> rowPlaces = new LinkedHashMap<>();
    private final List<State> states = new ArrayList<>();
    private String lastRights = "";

    /// @param database with the standard roles, and nothing else
    Recorder(PostgresDatabase database, long seed) {
        this.database = database;
        this.random = new SeededRandom(seed);
        List<String> subjects = List.copyOf(SUBJECTS.values());
        for (String name : List.of("notes", "tasks")) {
            RandomTable table = new RandomTable(random.fork(name), name, subjects);
            tables.add(table);
            rightsSerials.put(name, 0);
            table.definition().forEach(database::execute);
        }
        database.execute(
                "CREATE TABLE members (item int, user_id uuid, PRIMARY KEY (item, user_id))",
                "CREATE PUBLICATION sluice FOR TABLE notes, tasks");
        for (RandomTable table : tables) {
            moveRights(table);
            table.grants().forEach(database::execute);
        }
        database.rows("SELECT pg_create_logical_replication_slot('" + SLOT + "', 'pgoutput')");
        this.connection = database.connect();
        this.pool = Pool.open(
                PostgresUrl.parse(database.url("sluice_authz")), new Pool.Sizing(2, 1, TIMEOUT), Pool.Reset.ROLLBACK);
        this.loader = CatalogLoader.start(pool, "sluice", ROLES, TIMEOUT);
        this.poll = new RightsPoll(pool, "sluice", TIMEOUT);
    }

    private static Map<String, String> subjects() {
        Map<String, String> subjects = new LinkedHashMap<>();
        subjects.put("alice", "aaaaaaaa-0000-4000-8000-000000000001");
        subjects.put("bob", "bbbbbbbb-0000-4000-8000-000000000002");
        subjects.put("carol", "cccccccc-0000-4000-8000-000000000003");
        return Collections.unmodifiableMap(subjects);
    }

    private static String claims(Caller caller) {
        int level = List.copyOf(SUBJECTS.keySet()).indexOf(caller.subject());
        return "{\"sub\":\"" + SUBJECTS.get(caller.subject()) + "\",\"role\":\"" + caller.role() + "\",\"org\":\""
                + caller.org() + "\",\"level\":" + level + "}";
    }

    Recording record(int commits) throws SQLException {
        connection.setAutoCommit(false);
        capture(0, Catalog.MAY_HAVE_MOVED);
        while (states.size() <= commits) {
            commit();
        }
        attachMessages();
        List<JsonNode> catalogs = new ArrayList<>();
        images.forEach(image -> catalogs.add(mapper.valueToTree(new Relations(List.copyOf(image.relations())))));
        return new Recording(
                random + ", " + commits + " commits, PostgreSQL "
                        + database.cluster().version(),
                CALLERS,
                tables.stream().map(this::described).toList(),
                mapper.valueToTree(images.getFirst().dictionary()),
                catalogs,
                rows,
                folds(),
                states);
    }

    /// Keeps the declared type of what is in the list.
    private record Relations(List<Relation> relations) {}

    private Table described(RandomTable table) {
        Relation relation = relation(images.getFirst(), table);
        return new Table(
                relation.oid(),
                table.name(),
                relation.columns().stream().map(column -> column.name()).toList(),
                table.filters());
    }

    private static Relation relation(CatalogImage image, RandomTable table) {
        return Objects.requireNonNull(image.relation("public", table.name()));
    }

    // ---- what is written

    private enum Catalog {
        SAME,
        MAY_HAVE_MOVED
    }

    private void commit() throws SQLException {
        Catalog catalog = Catalog.SAME;
        RandomTable table = random.pick(tables);
        try (Statement statement = connection.createStatement()) {
            switch (random.weighted(60, 8, 4, 3, 2)) {
                case 0 -> changes(statement, 1 + random.below(random.below(8) == 0 ? 14 : 3));
                case 1 -> members(statement);
                case 2 -> {
                    for (String sql : moved(table)) {
                        statement.execute(sql);
                    }
                    changes(statement, random.below(2));
                    catalog = Catalog.MAY_HAVE_MOVED;
                }
                case 3 -> {
                    for (String sql : table.grants()) {
                        statement.execute(sql);
                    }
                    rightsSerials.merge(table.name(), 1, Integer::sum);
                    catalog = Catalog.MAY_HAVE_MOVED;
                }
                default -> {
                    statement.execute("TRUNCATE " + table.name());
                    changes(statement, random.below(3));
                    catalog = Catalog.MAY_HAVE_MOVED;
                }
            }
            int xid;
            try (ResultSet row = statement.executeQuery("SELECT pg_current_xact_id()::text")) {
                row.next();
                xid = (int) Long.parseLong(row.getString(1));
            }
            if (catalog == Catalog.SAME && random.below(20) == 0) {
                connection.rollback();
                return;
            }
            connection.commit();
            capture(xid, catalog);
        }
    }

    private void changes(Statement statement, int count) throws SQLException {
        for (int i = 0; i < count; i++) {
            statement.execute(random.pick(tables).change());
        }
    }

    private void members(Statement statement) throws SQLException {
        String item = random.below(RandomTable.IDS) + ", '" + random.pick(List.copyOf(SUBJECTS.values())) + "'";
        statement.execute(
                random.below(3) == 0
                        ? "DELETE FROM members WHERE (item, user_id) = (" + item + ")"
                        : "INSERT INTO members VALUES (" + item + ") ON CONFLICT DO NOTHING");
    }

    private void moveRights(RandomTable table) {
        moved(table).forEach(database::execute);
    }

    private List<String> moved(RandomTable table) {
        List<String> existing =
                database
                        .rows("SELECT polname FROM pg_policy WHERE polrelid = '" + table.name() + "'::regclass")
                        .stream()
                        .map(row -> String.valueOf(row.getFirst()))
                        .toList();
        rightsSerials.merge(table.name(), 1, Integer::sum);
        return table.policies(existing);
    }

    // ---- what PostgreSQL says of it

    private void capture(int xid, Catalog catalog) {
        Stamped<String> rights = poll.fingerprint();
        if (catalog == Catalog.MAY_HAVE_MOVED || !rights.value().equals(lastRights)) {
            images.add(loader.load(new CatalogScope.Everything(), TIMEOUT));
            lastRights = rights.value();
        }
        Map<String, TableState> tableStates = new LinkedHashMap<>();
        for (RandomTable table : tables) {
            tableStates.put(table.name(), state(table));
        }
        Stamp stamp = rights.stamp();
        states.add(new State(
                xid,
                stamp.snapshot().xmin() + ":" + stamp.snapshot().xmax() + ":"
                        + String.join(
                                ",",
                                stamp.snapshot().inProgress().stream()
                                        .map(String::valueOf)
                                        .toList()),
                stamp.insertLsn().toString(),
                rights.value(),
                images.size() - 1,
                tableStates,
                List.of()));
    }

    private TableState state(RandomTable table) {
        List<String> columns = relation(images.getLast(), table).columns().stream()
                .map(column -> column.name())
                .toList();
        List<Integer> places = new ArrayList<>();
        for (List<@Nullable String> row : database.rows("SELECT to_jsonb(t)::text, "
                + String.join(", ", table.conditions()) + ", " + String.join(", ", columns) + " FROM " + table.name()
                + " t ORDER BY id")) {
            places.add(place(table, row));
        }
        List<View> views = new ArrayList<>();
        for (Caller caller : CALLERS) {
            views.add(view(table, caller));
        }
        return new TableState(places, Objects.requireNonNull(rightsSerials.get(table.name())), views);
    }

    private int place(RandomTable table, List<@Nullable String> row) {
        int filters = table.conditions().size();
        List<Integer> admittedBy = new ArrayList<>();
        for (int i = 0; i < filters; i++) {
            if ("t".equals(row.get(i + 1))) {
                admittedBy.add(i);
            }
        }
        String json = String.valueOf(row.getFirst());
        List<@Nullable String> texts = row.subList(filters + 1, row.size());
        return rowPlaces.computeIfAbsent(table.name() + json, _ -> {
            rows.add(new Row(Integer.parseInt(String.valueOf(texts.getFirst())), texts, json, admittedBy));
            return rows.size() - 1;
        });
    }

    private View view(RandomTable table, Caller caller) {
        List<String> columns = database
                .rows(
                        "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0"
                                + " AND has_column_privilege(?, attrelid, attnum, 'SELECT') ORDER BY attnum",
                        table.name(),
                        caller.role())
                .stream()
                .map(row -> String.valueOf(row.getFirst()))
                .toList();
        List<Integer> ids = columns.isEmpty()
                ? List.of()
                : database
                        .asRole(caller.role(), claims(caller))
                        .rows("SELECT id FROM " + table.name() + " ORDER BY id")
                        .stream()
                        .map(row -> Integer.parseInt(String.valueOf(row.getFirst())))
                        .toList();
        return new View(columns, ids);
    }

    /// The slot's bytes, to the commits they are of.
    private void attachMessages() {
        Map<Integer, List<String>> byXid = new LinkedHashMap<>();
        for (List<@Nullable String> row :
                database.rows("SELECT xid::text, encode(data, 'hex') FROM pg_logical_slot_peek_binary_changes('" + SLOT
                        + "', NULL, NULL, 'proto_version', '1', 'publication_names', 'sluice')")) {
            byXid.computeIfAbsent((int) Long.parseLong(String.valueOf(row.getFirst())), _ -> new ArrayList<>())
                    .add(String.valueOf(row.getLast()));
        }
        states.replaceAll(state -> new State(
                state.xid(),
                state.snapshot(),
                state.insertLsn(),
                state.rights(),
                state.catalog(),
                state.tables(),
                byXid.getOrDefault(state.xid(), List.of())));
    }

    /// Whatever a subscription of any caller to any table may have to ask, under any of the catalogs.
    private List<Recording.Fold> folds() {
        RlsResolver resolver = new RlsResolver(ProbePermission.ALLOW);
        CallerQueries queries = new CallerQueries(pool, TIMEOUT);
        List<Recording.Fold> recorded = new ArrayList<>();
        for (int i = 0; i < CALLERS.size(); i++) {
            Caller caller = CALLERS.get(i);
            List<Fold> folds = new ArrayList<>();
            for (CatalogImage image : images) {
                Role role = Objects.requireNonNull(image.role(caller.role()));
                for (Relation relation : image.relations()) {
                    for (PinnedColumns pinned : List.of(PinnedColumns.NONE, pinnedOwner(relation))) {
                        resolver.plan(image, relation, role, pinned).folds().stream()
                                .filter(fold -> !folds.contains(fold))
                                .forEach(folds::add);
                    }
                }
            }
            if (!folds.isEmpty()) {
                Identity identity =
                        new Identity(SUBJECTS.get(caller.subject()), caller.role(), claims(caller), Instant.MAX);
                List<FoldAnswer> answers = queries.fold(identity, folds).value();
                for (int j = 0; j < folds.size(); j++) {
                    recorded.add(recorded(i, folds.get(j), answers.get(j)));
                }
            }
        }
        return recorded;
    }

    private static PinnedColumns pinnedOwner(Relation relation) {
        int owner = Objects.requireNonNull(relation.column("owner")).attnum();
        return new PinnedColumns(
                Collections.singletonMap(owner, List.copyOf(SUBJECTS.values()).getFirst()));
    }

    private static Recording.Fold recorded(int caller, Fold fold, FoldAnswer answer) {
        return switch (answer) {
            case FoldAnswer.Value(var text) -> new Recording.Fold(caller, fold.sql(), text, null);
            case FoldAnswer.Raised(var state) -> new Recording.Fold(caller, fold.sql(), null, state);
        };
    }

    @Override
    public void close() throws SQLException {
        pool.close();
        connection.close();
    }
}
