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
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.postgres.PostgresServer;
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

    private static final List<String> CHANNELS = List.of("room:1", "room:2");

    private final PostgresDatabase first;
    private final SeededRandom random;
    private final ObjectMapper mapper = Recording.mapper();
    private Server server;

    private final List<RandomTable> tables = new ArrayList<>();
    private final Map<String, Integer> rightsSerials = new LinkedHashMap<>();
    private final List<CatalogImage> images = new ArrayList<>();
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, Integer> rowPlaces = new LinkedHashMap<>();
    private List<State> states = new ArrayList<>();
    private String lastRights = "";
    private int serials;
    private int said;

    /// How a recording goes on behind a commit on a standby that is promoted without the later ones.
    ///
    /// @param after the commit, 0 for no standby
    /// @param commits of the standby
    record Fork(int after, int commits) {
        static final Fork NONE = new Fork(0, 0);
    }

    /// The server that is recorded, and the sessions with it.
    private record Server(
            PostgresDatabase database, Connection connection, Pool pool, CatalogLoader loader, RightsPoll poll) {
        static Server of(PostgresDatabase database) throws SQLException {
            Pool pool = Pool.open(
                    PostgresUrl.parse(database.url("sluice_authz")),
                    new Pool.Sizing(2, 1, TIMEOUT),
                    Pool.Reset.ROLLBACK);
            Connection connection = database.connect();
            connection.setAutoCommit(false);
            return new Server(
                    database,
                    connection,
                    pool,
                    CatalogLoader.start(pool, "sluice", ROLES, TIMEOUT),
                    new RightsPoll(pool, "sluice", TIMEOUT));
        }

        void close() throws SQLException {
            pool.close();
            connection.close();
        }
    }

    /// @param database with the standard roles, and nothing else
    Recorder(PostgresDatabase database, long seed) throws SQLException {
        this.first = database;
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
            table.policies(List.of()).forEach(database::execute);
            table.grants().forEach(database::execute);
        }
        database.rows("SELECT pg_create_logical_replication_slot('" + SLOT + "', 'pgoutput')");
        this.server = Server.of(database);
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

    Recording record(int commits, Fork fork) throws SQLException {
        capture(0, Catalog.MAY_HAVE_MOVED);
        commitUntil(fork.after());
        if (fork.after() == 0) {
            commitUntil(commits);
            return recording(attached(), null);
        }
        List<List<Object>> standing = tables.stream().map(RandomTable::standing).toList();
        Map<String, Integer> rights = new LinkedHashMap<>(rightsSerials);
        PostgresCluster cluster = first.cluster();
        server.close();
        cluster.stop(PostgresServer.Stop.FAST);
        try (PostgresCluster standby = cluster.startStandby()) {
            cluster.start();
            server = Server.of(first.reconnect());
            commitUntil(commits);
            server.close();
            List<State> all = attached();
            for (int i = 0; i < tables.size(); i++) {
                tables.get(i).restore(standing.get(i));
            }
            rightsSerials.putAll(rights);
            return recording(all, goneOn(standby.database(first.name()), fork));
        }
    }

    private Recording.Fork goneOn(PostgresDatabase promoted, Fork fork) throws SQLException {
        String leftAt = String.valueOf(promoted.value("SELECT pg_last_wal_replay_lsn()"));
        promoted.value("SELECT pg_promote()");
        server = Server.of(promoted);
        states = new ArrayList<>();
        capture(0, Catalog.MAY_HAVE_MOVED);
        commitUntil(fork.commits());
        Recording.Fork gone = new Recording.Fork(fork.after(), leftAt, attached());
        promoted.reconnect();
        return gone;
    }

    private void commitUntil(int count) throws SQLException {
        while (states.size() <= count) {
            commit();
        }
    }

    private Recording recording(List<State> all, Recording.@Nullable Fork fork) {
        List<JsonNode> catalogs = new ArrayList<>();
        images.forEach(image -> catalogs.add(mapper.valueToTree(new Relations(List.copyOf(image.relations())))));
        return new Recording(
                random + ", " + all.size() + " states, PostgreSQL "
                        + first.cluster().version(),
                CALLERS,
                tables.stream().map(this::described).toList(),
                mapper.valueToTree(images.getFirst().dictionary()),
                catalogs,
                rows,
                folds(),
                all,
                fork);
    }

    /// Keeps the declared type of what is in the list.
    private record Relations(List<Relation> relations) {}

    private Table described(RandomTable table) {
        return new Table(relation(images.getFirst(), table).oid(), table.name(), table.filters());
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
        Catalog catalog = Catalog.MAY_HAVE_MOVED;
        RandomTable table = random.pick(tables);
        Connection connection = server.connection();
        try (Statement statement = connection.createStatement()) {
            switch (random.weighted(60, 8, 4, 3, 2, 14)) {
                case 0 -> {
                    changes(statement, 1 + random.below(random.below(8) == 0 ? 14 : 3));
                    catalog = Catalog.SAME;
                }
                case 1 -> {
                    members(statement);
                    catalog = Catalog.SAME;
                }
                case 2 -> {
                    int written = random.below(2);
                    changes(statement, written);
                    run(statement, table.policies(policies(statement, table)));
                    rightsMoved(table);
                    tell(statement, table, written);
                    changes(statement, random.below(2));
                }
                case 3 -> {
                    run(statement, table.grants());
                    rightsMoved(table);
                }
                case 4 -> {
                    statement.execute("TRUNCATE " + table.name());
                    changes(statement, random.below(3));
                }
                default -> alter(statement, table);
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

    private static void run(Statement statement, List<String> all) throws SQLException {
        for (String sql : all) {
            statement.execute(sql);
        }
    }

    private void changes(Statement statement, int count) throws SQLException {
        for (int i = 0; i < count; i++) {
            statement.execute(random.pick(tables).change());
            if (random.below(6) == 0) {
                statement.execute("SELECT pg_logical_emit_message(true, 'sluice:" + random.pick(CHANNELS) + "', 'said "
                        + ++said + "')");
            }
        }
    }

    private void members(Statement statement) throws SQLException {
        String item = random.below(RandomTable.IDS) + ", '" + random.pick(List.copyOf(SUBJECTS.values())) + "'";
        statement.execute(
                random.below(3) == 0
                        ? "DELETE FROM members WHERE (item, user_id) = (" + item + ")"
                        : "INSERT INTO members VALUES (" + item + ") ON CONFLICT DO NOTHING");
    }

    /// Rows are written before and after it in the same transaction. If there are any before there is one after,
    /// which tells the log of it: else the rows of before are the last the log tells, by the definition they had.
    private void alter(Statement statement, RandomTable table) throws SQLException {
        int written = random.below(3);
        for (int i = 0; i < written; i++) {
            statement.execute(table.written());
        }
        List<String> before = policies(statement, table);
        for (String sql : table.altered()) {
            if (!sql.contains(" TYPE ") || !isRead(statement, table)) {
                statement.execute(sql);
            }
        }
        if (!policies(statement, table).equals(before)) {
            // without any, nobody would see a row of it for long
            run(statement, table.policies(policies(statement, table)));
            rightsMoved(table);
        }
        tell(statement, table, written);
        changes(statement, random.below(3));
    }

    /// The log brings what a transaction did to a table with the next row of it. Where rows were written before
    /// there is one, else nothing would say so before a later transaction.
    private static void tell(Statement statement, RandomTable table, int written) throws SQLException {
        if (written > 0) {
            statement.execute(table.written());
        }
    }

    /// Whether a policy reads the labels: their type may not be altered then.
    private static boolean isRead(Statement statement, RandomTable table) throws SQLException {
        String sql = "SELECT FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum ="
                + " d.refobjsubid WHERE d.classid = 'pg_policy'::regclass AND a.attname = 'label' AND a.attrelid = '"
                + table.name() + "'::regclass";
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next();
        }
    }

    private static List<String> policies(Statement statement, RandomTable table) throws SQLException {
        List<String> names = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(
                "SELECT polname FROM pg_policy WHERE polrelid = '" + table.name() + "'::regclass ORDER BY polname")) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        return names;
    }

    private void rightsMoved(RandomTable table) {
        rightsSerials.put(table.name(), ++serials);
    }

    // ---- what PostgreSQL says of it

    private void capture(int xid, Catalog catalog) {
        Stamped<String> rights = server.poll().fingerprint();
        if (catalog == Catalog.MAY_HAVE_MOVED || !rights.value().equals(lastRights)) {
            images.add(server.loader().load(new CatalogScope.Everything(), TIMEOUT));
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
        for (List<@Nullable String> row : server.database()
                .rows("SELECT to_jsonb(t)::text, "
                        + String.join(", ", table.conditions()) + ", " + String.join(", ", columns) + " FROM "
                        + table.name()
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
        return rowPlaces.computeIfAbsent(table.name() + json + texts, _ -> {
            rows.add(new Row(Integer.parseInt(String.valueOf(texts.getFirst())), texts, json, admittedBy));
            return rows.size() - 1;
        });
    }

    private View view(RandomTable table, Caller caller) {
        List<String> columns = server
                .database()
                .rows(
                        "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT"
                                + " attisdropped AND has_column_privilege(?, attrelid, attnum, 'SELECT') ORDER BY attnum",
                        table.name(),
                        caller.role())
                .stream()
                .map(row -> String.valueOf(row.getFirst()))
                .toList();
        List<Integer> ids = columns.isEmpty()
                ? List.of()
                : server
                        .database()
                        .asRole(caller.role(), claims(caller))
                        .rows("SELECT id FROM " + table.name() + " ORDER BY id")
                        .stream()
                        .map(row -> Integer.parseInt(String.valueOf(row.getFirst())))
                        .toList();
        return new View(columns, ids);
    }

    /// The states of this server, with the slot's bytes of each commit.
    private List<State> attached() {
        Map<Integer, List<String>> byXid = new LinkedHashMap<>();
        for (List<@Nullable String> row : server.database()
                .rows("SELECT xid::text, encode(data, 'hex') FROM pg_logical_slot_peek_binary_changes('" + SLOT
                        + "', NULL, NULL, 'proto_version', '1', 'publication_names', 'sluice', 'messages', 'true')")) {
            byXid.computeIfAbsent((int) Long.parseLong(String.valueOf(row.getFirst())), _ -> new ArrayList<>())
                    .add(String.valueOf(row.getLast()));
        }
        return states.stream()
                .map(state -> new State(
                        state.xid(),
                        state.snapshot(),
                        state.insertLsn(),
                        state.rights(),
                        state.catalog(),
                        state.tables(),
                        byXid.getOrDefault(state.xid(), List.of())))
                .toList();
    }

    /// Whatever a subscription of any caller to any table may have to ask, under any of the catalogs.
    private List<Recording.Fold> folds() {
        RlsResolver resolver = new RlsResolver(ProbePermission.ALLOW);
        CallerQueries queries = new CallerQueries(server.pool(), TIMEOUT);
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
        server.close();
    }
}
