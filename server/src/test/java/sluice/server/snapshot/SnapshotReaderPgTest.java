package sluice.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.snapshot.SnapshotTable.ALICE;
import static sluice.server.snapshot.SnapshotTable.BOB;
import static sluice.server.snapshot.SnapshotTable.bounds;
import static sluice.server.snapshot.SnapshotTable.caller;
import static sluice.server.snapshot.SnapshotTable.rows;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.core.catalog.Stamp;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.pgoutput.Tuple;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotOutcome.Truncated;
import sluice.core.wal.Lsn;
import sluice.server.postgres.query.SlotServer;
import sluice.server.postgres.query.SnapshotQueries;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnapshotReaderPgTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Path folder = SnapshotTable.folder();
    private final PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
            .createDatabase("snapshots", DatabaseOptions.unusual())
            .withStandardRoles();
    private final SnapshotTable table = new SnapshotTable(database, folder);

    @BeforeAll
    void prepare() {
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner uuid, title text, secret text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner = auth.uid())",
                "REVOKE ALL ON notes FROM authenticated, anon",
                "GRANT SELECT (id, owner, title) ON notes TO authenticated",
                "INSERT INTO notes SELECT i, CASE WHEN i % 3 = 0 THEN '" + ALICE + "' ELSE '" + BOB
                        + "' END::uuid, 'title ' || i % 7, 'secret' FROM generate_series(1000, 1, -1) i",
                "CREATE TABLE touchy (id int PRIMARY KEY, divisor int)",
                "ALTER TABLE touchy ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY divides ON touchy FOR SELECT USING (id / divisor > 0)",
                "INSERT INTO touchy VALUES (1, 1), (2, 1), (3, 0)",
                "CREATE FUNCTION public.slow() RETURNS bool LANGUAGE sql VOLATILE AS"
                        + " 'SELECT pg_sleep(0.2) IS NOT NULL'",
                "CREATE TABLE slow (id int PRIMARY KEY)",
                "ALTER TABLE slow ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY late ON slow FOR SELECT USING (public.slow())",
                "INSERT INTO slow SELECT generate_series(1, 1000)",
                "CREATE TABLE plain (id int PRIMARY KEY, body text)",
                "CREATE PUBLICATION sluice FOR ALL TABLES WITH (publish_via_partition_root = true)");
    }

    @AfterAll
    void close() {
        table.close();
    }

    private SnapshotOutcome.Failed failed(SnapshotOutcome outcome) {
        assertThat(outcome).isInstanceOf(SnapshotOutcome.Failed.class);
        assertThat(table.spools.bytes()).isZero();
        return (SnapshotOutcome.Failed) outcome;
    }

    private List<String> visible(String subject, String condition) {
        return database
                .asRole("authenticated", "{\"sub\":\"" + subject + "\"}")
                .rows("SELECT id FROM notes WHERE " + condition + " ORDER BY id")
                .stream()
                .map(row -> Objects.requireNonNull(row.getFirst()))
                .toList();
    }

    private static List<String> ids(List<JsonNode> rows) {
        return rows.stream().map(row -> row.get("record").get("id").asText()).toList();
    }

    @Test
    void rows_are_those_the_role_sees_in_the_order_of_the_key() {
        for (String subject : List.of(ALICE, BOB)) {
            SnapshotOutcome outcome = table.read(table.request(caller("authenticated", subject), "public", "notes"));
            SnapshotOutcome.Read read = (SnapshotOutcome.Read) outcome;
            assertThat(read.truncated()).isEqualTo(Truncated.COMPLETE);
            List<JsonNode> rows = rows(outcome);
            assertThat(ids(rows)).isEqualTo(visible(subject, "true")).hasSize((int) read.rows());
            assertThat(rows.toString()).doesNotContain("secret").contains(subject);
            JsonNode first = rows.getFirst();
            assertThat(first.get("op").asText()).isEqualTo("INSERT");
            assertThat(first.get("snapshot").asBoolean()).isTrue();
            assertThat(first.has("commit_time")).isFalse();
            assertThat(first.get("commit_lsn").asText())
                    .isEqualTo(read.stamp().insertLsn().toString());
        }
        assertThat(ids(rows(table.read(table.request(
                        caller("authenticated", ALICE),
                        "public",
                        "notes",
                        table.term("notes", "title", Operator.IN, "title 3", "title ?"),
                        table.term("notes", "id", Operator.LESS, "500"))))))
                .isEqualTo(visible(ALICE, "title = 'title 3' AND id < 500"))
                .isNotEmpty();
        assertThat(table.spools.bytes()).isZero();
    }

    /// Policies and functions are looked up as they are, rows as the snapshot has them: read together they
    /// would show what nobody could ever see.
    @Test
    void rows_of_the_snapshot_are_never_read_under_rights_of_after_it() throws Exception {
        database.execute(
                "CREATE FUNCTION public.shows(v int) RETURNS bool LANGUAGE sql STABLE AS 'SELECT v = 1'",
                "CREATE TABLE by_policy (id int PRIMARY KEY, v int)",
                "CREATE TABLE by_function (id int PRIMARY KEY, v int)",
                "ALTER TABLE by_policy ENABLE ROW LEVEL SECURITY",
                "ALTER TABLE by_function ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY p ON by_policy FOR SELECT USING (v = 1)",
                "CREATE POLICY p ON by_function FOR SELECT USING (public.shows(v))",
                "INSERT INTO by_policy VALUES (1, 0)",
                "INSERT INTO by_function VALUES (1, 0)");
        AtomicBoolean over = new AtomicBoolean();
        List<JsonNode> shown = new ArrayList<>();
        int read = 0;
        var requests = Stream.of("by_policy", "by_function")
                .map(name -> table.request(caller("authenticated", ALICE), "public", name))
                .toList();
        try (Connection owner = database.connect();
                Statement statement = owner.createStatement()) {
            CompletableFuture<Void> moving = CompletableFuture.runAsync(
                    () -> {
                        for (int v = 1; !over.get(); v = 1 - v) {
                            move(statement, v);
                        }
                    },
                    task -> Thread.ofVirtual().name("owner").start(task));
            try {
                for (var request : requests) {
                    for (int i = 0; i < 150; i++) {
                        if (table.read(request) instanceof SnapshotOutcome.Read found) {
                            read++;
                            shown.addAll(rows(found));
                        }
                    }
                }
            } finally {
                over.set(true);
                moving.join();
            }
        }
        assertThat(shown).isEmpty();
        assertThat(read).isGreaterThan(10);
    }

    /// What is shown is what the row was before.
    private static void move(Statement statement, int v) {
        try {
            statement.execute("BEGIN; UPDATE by_policy SET v = " + v + "; UPDATE by_function SET v = " + v
                    + "; ALTER POLICY p ON by_policy USING (v = " + (1 - v) + ");"
                    + " CREATE OR REPLACE FUNCTION public.shows(v int) RETURNS bool LANGUAGE sql STABLE AS"
                    + " 'SELECT v = " + (1 - v) + "'; COMMIT; SELECT pg_sleep(0.03)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void more_rows_than_allowed_are_cut_off_and_said_so() {
        var request = table.request(caller("authenticated", ALICE), "public", "notes");
        SnapshotOutcome.Read cut =
                (SnapshotOutcome.Read) table.reader(bounds(100, 1 << 20)).read(request);
        assertThat(cut.truncated()).isEqualTo(Truncated.TRUNCATED);
        assertThat(ids(rows(cut))).isEqualTo(visible(ALICE, "id <= 300"));
        SnapshotOutcome.Read exact =
                (SnapshotOutcome.Read) table.reader(bounds(333, 1 << 20)).read(request);
        assertThat(exact.truncated()).isEqualTo(Truncated.COMPLETE);
        assertThat(rows(exact)).hasSize(333);
    }

    @Test
    void the_snapshot_is_older_than_its_position_and_the_log_is_moved_past_it() {
        var request = table.request(caller("authenticated", ALICE), "public", "notes");
        long xmax = Long.parseLong(
                Objects.requireNonNull(database.value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")));
        Lsn before = Lsn.parse(database.currentLsn());
        SnapshotOutcome.Read read = (SnapshotOutcome.Read) table.read(request);
        assertThat(read.stamp().snapshot().xmax()).isGreaterThanOrEqualTo(xmax);
        assertThat(read.stamp().insertLsn().reaches(before)).isTrue();
        assertThat(Lsn.parse(database.currentLsn()).isAfter(read.stamp().insertLsn()))
                .isTrue();
        rows(read);
    }

    @Test
    void a_row_for_which_the_policy_raises_fails_the_snapshot_and_nothing_else() {
        SnapshotOutcome.Failed failure =
                failed(table.read(table.request(caller("authenticated", ALICE), "public", "touchy")));
        assertThat(failure.reason()).isEqualTo("raised");
        assertThat(failure.message()).contains("22012").doesNotContain("division");
        assertThat(table.notices)
                .last()
                .satisfies(notice -> assertThat(notice.fields()).contains("public.touchy", "raised"));
        assertThat(rows(table.read(table.request(caller("authenticated", ALICE), "public", "notes"))))
                .hasSize(333);
    }

    @Test
    void a_slow_policy_is_cut_off_and_the_connection_stays_usable() {
        var slow = new SnapshotQueries.Bounds(10_000, 1 << 20, Duration.ofMillis(700), LONG);
        SnapshotOutcome.Failed failure =
                failed(table.reader(slow).read(table.request(caller("authenticated", ALICE), "public", "slow")));
        assertThat(failure.reason()).isEqualTo("timeout");
        assertThat(failure.message()).contains("SLUICE_SNAPSHOT_TIMEOUT");
        assertThat(rows(table.read(table.request(caller("authenticated", ALICE), "public", "notes"))))
                .hasSize(333);
        assertThat(database.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'sluice_authz'"
                        + " AND datname = current_database() AND state <> 'idle'"))
                .isEqualTo("0");
    }

    @Test
    void a_locked_table_is_waited_for_within_the_lock_timeout_only() throws SQLException {
        var request = table.request(caller("authenticated", ALICE), "public", "plain");
        try (Connection holder = database.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("LOCK TABLE plain IN ACCESS EXCLUSIVE MODE");
            var hasty = new SnapshotQueries.Bounds(10, 1 << 20, LONG, Duration.ofMillis(200));
            assertThat(failed(table.reader(hasty).read(request)).reason()).isEqualTo("locked");
            holder.rollback();
        }
        assertThat(rows(table.read(request))).isEmpty();
    }

    @Test
    void a_role_that_cannot_be_assumed_is_named_with_the_grant_it_needs() {
        SnapshotOutcome.Failed failure =
                failed(table.read(table.request(caller("service_role", ALICE), "public", "notes")));
        assertThat(failure.reason()).isEqualTo("role_not_assumable");
        assertThat(failure.message()).contains("GRANT \"service_role\" TO \"sluice_authz\";");
        database.execute("GRANT service_role TO sluice_authz");
        try {
            assertThat(rows(table.read(table.request(caller("service_role", ALICE), "public", "notes"))))
                    .hasSize(1_000);
        } finally {
            database.execute("REVOKE service_role FROM sluice_authz");
        }
        assertThat(rows(table.read(table.request(caller("authenticated", ALICE), "public", "notes"))))
                .hasSize(333);
    }

    @Test
    void rows_of_another_server_are_not_taken() {
        var request = table.request(caller("authenticated", ALICE), "public", "notes");
        String system = Objects.requireNonNull(database.value("SELECT system_identifier FROM pg_control_system()"));
        SlotServer here = new SlotServer(system, 1, database.name());
        try {
            for (SlotServer other : List.of(
                    new SlotServer("7", 1, database.name()),
                    new SlotServer(system, 2, database.name()),
                    new SlotServer(system, 1, "postgres"))) {
                table.slotIsOn(other);
                assertThat(failed(table.read(request)).reason()).isEqualTo("another_server");
            }
            table.slotIsOn(null);
            assertThat(failed(table.read(request)).reason()).isEqualTo("another_server");
        } finally {
            table.slotIsOn(here);
        }
        assertThat(rows(table.read(request))).hasSize(333);
    }

    @Test
    void a_right_that_is_gone_since_the_catalog_was_read_fails_the_snapshot() {
        database.execute("CREATE TABLE taken (id int PRIMARY KEY)");
        var request = table.request(caller("authenticated", ALICE), "public", "taken");
        database.execute("REVOKE ALL ON taken FROM authenticated");
        assertThat(failed(table.read(request)).reason()).isEqualTo("not_permitted");
        database.execute("DROP TABLE taken");
        assertThat(failed(table.read(request)).reason()).isEqualTo("raised");
    }

    @Test
    void rows_that_do_not_fit_in_the_spools_fail_their_snapshot_only() {
        SpoolStore small = new SpoolStore(folder, new SpoolStore.Bounds(100_000, 20_000, 20_000));
        database.execute(
                "CREATE TABLE wide (id int PRIMARY KEY, body text)",
                "INSERT INTO wide SELECT i, repeat('x', 10000) FROM generate_series(1, 20) i");
        SnapshotReader reader = new SnapshotReader(
                table.queries(bounds(10_000, 1 << 20)), small, 1 << 20, table.metrics, table.notices::add);
        var few = table.request(
                caller("authenticated", ALICE), "public", "wide", table.term("wide", "id", Operator.LESS, "5"));
        SnapshotOutcome.Read kept = (SnapshotOutcome.Read) reader.read(few);
        assertThat(((Spool) kept.spool()).isInFile()).isTrue();
        SnapshotOutcome failure = reader.read(table.request(caller("authenticated", ALICE), "public", "wide"));
        assertThat(failure)
                .isInstanceOfSatisfying(
                        SnapshotOutcome.Failed.class,
                        failed -> assertThat(failed.reason()).isEqualTo("spool_full"));
        assertThat(rows(kept)).hasSize(4);
        assertThat(small.bytes()).isZero();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void a_row_larger_than_an_event_may_be_comes_with_its_key() {
        database.execute(
                "CREATE TABLE heavy (id text PRIMARY KEY, body text, list int[])",
                "INSERT INTO heavy VALUES ('a', repeat('x', 200000), '{1}'), ('b', repeat('x', 99000), NULL),"
                        + " ('c', 'small', NULL), ('d', NULL, array_fill(7777777, ARRAY[20000])),"
                        + " ('e', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 5000) i), NULL)");
        var request = table.request(caller("authenticated", ALICE), "public", "heavy");
        List<JsonNode> rows = rows(table.reader(bounds(100, 100_000)).read(request));
        assertThat(rows.stream().map(row -> row.get("record").size()).toList()).containsExactly(1, 3, 3, 1, 1);
        assertThat(rows.stream().map(row -> row.has("degraded")).toList())
                .containsExactly(true, false, false, true, true);
        assertThat(ids(rows)).containsExactly("a", "b", "c", "d", "e");

        // measured by the server, so the text of one that is stored large never leaves it
        List<Integer> sizes = new ArrayList<>();
        table.queries(bounds(100, 100_000))
                .read(
                        new SnapshotQueries.Question(
                                request.caller(),
                                request.catalog(),
                                request.relation(),
                                request.projection(),
                                request.filter()),
                        new SnapshotQueries.Taker() {
                            @Override
                            public void begin(Stamp stamp) {
                                assertThat(sizes).isEmpty();
                            }

                            @Override
                            public void row(Tuple row, SnapshotQueries.RowPart part) {
                                sizes.add(part == SnapshotQueries.RowPart.KEY ? -1 : row.textBytes());
                            }
                        });
        assertThat(sizes).startsWith(-1, 99_001, 6).endsWith(-1);
    }

    @Test
    void tables_and_columns_of_any_name_and_kind_are_read() {
        database.execute(
                "CREATE SCHEMA \"Odd?\"",
                "GRANT USAGE ON SCHEMA \"Odd?\" TO authenticated",
                "CREATE TABLE \"Odd?\".\"a \"\"b\"\"\" (\"sluice_row\" int, \"C?\" int, \"select\" text,"
                        + " sum int GENERATED ALWAYS AS (\"C?\" + 1) STORED, PRIMARY KEY (\"C?\", \"sluice_row\"))",
                "GRANT SELECT ON \"Odd?\".\"a \"\"b\"\"\" TO authenticated",
                "INSERT INTO \"Odd?\".\"a \"\"b\"\"\" VALUES (1, 2, 'x'), (9, 1, NULL)",
                "CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)",
                "CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (10)",
                "CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (10) TO (20)",
                "INSERT INTO parted VALUES (15, 'high'), (5, 'low')",
                "CREATE TABLE parent (id int PRIMARY KEY)",
                "CREATE TABLE child (CHECK (id > 100), PRIMARY KEY (id)) INHERITS (parent)",
                "INSERT INTO parent VALUES (1)",
                "INSERT INTO child VALUES (101)",
                "CREATE TABLE keyless (v int)",
                "ALTER TABLE keyless REPLICA IDENTITY FULL",
                "INSERT INTO keyless VALUES (3), (3)");
        var alice = caller("authenticated", ALICE);
        assertThat(rows(table.read(table.request(alice, "Odd?", "a \"b\""))))
                .hasSize(2)
                .first()
                .satisfies(row -> {
                    assertThat(row.get("schema").asText()).isEqualTo("Odd?");
                    assertThat(row.get("record").toString())
                            .isEqualTo("{\"sluice_row\":9,\"C?\":1,\"select\":null,\"sum\":2}");
                });
        assertThat(ids(rows(table.read(table.request(alice, "public", "parted")))))
                .containsExactly("5", "15");
        // rows of a child are changes of the child in the log
        assertThat(ids(rows(table.read(table.request(alice, "public", "parent")))))
                .containsExactly("1");
        assertThat(rows(table.read(table.request(alice, "public", "keyless")))).hasSize(2);
    }

    @Test
    void what_was_read_is_counted_by_table() {
        database.execute("CREATE TABLE counted (id int PRIMARY KEY)", "INSERT INTO counted VALUES (1), (2)");
        rows(table.read(table.request(caller("authenticated", ALICE), "public", "counted")));
        String figures = new String(table.metrics.scrape(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(figures)
                .contains("sluice_snapshot_rows_total{schema=\"public\",table=\"counted\"} 2.0")
                .contains("sluice_snapshot_seconds_count{schema=\"public\",table=\"counted\"} 1");
    }
}
