package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;
import sluice.testkit.Await;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WalReaderPgTest {
    private final PostgresDatabase database = prepared(PostgresCluster.NEWEST, DatabaseOptions.plain());

    private static PostgresDatabase prepared(int major, DatabaseOptions options) {
        PostgresDatabase database =
                PostgresCluster.of(major).createDatabase("reader", options).withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, body text)",
                "CREATE TABLE noise (body text)",
                "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }

    @BeforeAll
    void warm() {
        assertThat(database.value("SELECT 1")).isEqualTo("1");
    }

    @AfterAll
    void close() {
        database.close();
    }

    private Lsn confirmed(PostgresDatabase where, String slot) {
        String text =
                where.value("SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = ?", slot);
        return text == null ? Lsn.ZERO : Lsn.parse(text);
    }

    private void killWalsender(String slot) {
        database.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '" + slot
                + "' AND active");
    }

    private void truncate() {
        database.execute("TRUNCATE notes");
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_missing_slot_is_created_and_its_commits_arrive(int major) {
        try (PostgresDatabase own = prepared(major, DatabaseOptions.plain())) {
            try (ReaderHarness harness =
                    new ReaderHarness(own, ReaderHarness.Options.slot("smoke_" + major)).streaming()) {
                own.execute(
                        "INSERT INTO notes VALUES (1, 'a')",
                        "UPDATE notes SET id = 2",
                        "DELETE FROM notes",
                        "TRUNCATE notes");
                Await.until("four commits", () -> harness.commits.size() == 4);
                assertThat(harness.rows()).containsExactly("INSERT 1", "UPDATE 2", "DELETE 2", "TRUNCATE");
                assertThat(own.value(
                                "SELECT plugin || temporary FROM pg_replication_slots WHERE slot_name = ?",
                                "smoke_" + major))
                        .isEqualTo("pgoutputfalse");
            }
        }
    }

    @Test
    void a_slot_is_resumed_where_it_was_confirmed() {
        truncate();
        ReaderHarness.Options options = ReaderHarness.Options.slot("resumed");
        try (ReaderHarness first = new ReaderHarness(database, options).streaming()) {
            database.execute("INSERT INTO notes VALUES (1, 'a')");
            Await.until("the commit", () -> first.commits.size() == 1);
            Lsn end = first.commits.getFirst().endLsn();
            Await.until("it is confirmed", () -> !confirmed(database, "resumed").isBefore(end));
        }
        database.execute("INSERT INTO notes VALUES (2, 'written meanwhile')");
        try (ReaderHarness second = new ReaderHarness(database, options).streaming()) {
            Await.until("the commit", () -> second.commits.size() == 1);
            assertThat(second.rows()).containsExactly("INSERT 2");
        }
    }

    @Test
    void b10_the_slot_is_never_confirmed_past_what_the_sink_allows() {
        truncate();
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("held_back")).streaming()) {
            Lsn before = confirmed(database, "held_back");
            harness.confirmNothing();
            database.execute("INSERT INTO notes VALUES (1, 'a')");
            Await.until("the commit", () -> harness.commits.size() == 1);
            for (int i = 0; i < 20; i++) {
                database.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 100)");
            }
            assertThat(confirmed(database, "held_back"))
                    .isLessThanOrEqualTo(harness.commits.getFirst().commitLsn())
                    .isGreaterThanOrEqualTo(before);
        }
    }

    @Test
    void b38_the_slot_moves_while_only_unpublished_tables_change() {
        try (ReaderHarness harness =
                new ReaderHarness(database, ReaderHarness.Options.slot("idle_moves")).streaming()) {
            database.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 2000)");
            Lsn end = Lsn.parse(database.currentLsn());
            Await.until(
                    "the slot has passed the noise",
                    () -> !confirmed(database, "idle_moves").isBefore(end));
            database.execute("INSERT INTO notes VALUES (800, 'after')");
            Await.until("the commit", () -> harness.rows().contains("INSERT 800"));
        }
    }

    @Test
    void a_killed_walsender_loses_nothing_and_repeats_nothing() {
        truncate();
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("killed")).streaming()) {
            List<String> expected = new ArrayList<>();
            for (int i = 1; i <= 300; i++) {
                database.execute("INSERT INTO notes VALUES (" + i + ", 'x')");
                expected.add("INSERT " + i);
                if (i == 100 || i == 200) {
                    killWalsender("killed");
                }
            }
            Await.until("all commits", () -> harness.commits.size() >= 300);
            assertThat(harness.rows()).isEqualTo(expected);
            assertThat(harness.notices)
                    .anyMatch(notice -> notice.message().equals("the replication connection failed"));
        }
    }

    @Test
    void feedback_goes_on_while_the_sink_is_full() {
        truncate();
        ReaderHarness.Options options =
                ReaderHarness.Options.slot("full_sink").url("options=-c%20wal_sender_timeout%3D1s");
        try (ReaderHarness harness = new ReaderHarness(database, options).streaming()) {
            String pid = database.value("SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'full_sink'");
            harness.fill();
            database.execute("INSERT INTO notes VALUES (1, 'a')", "INSERT INTO notes VALUES (2, 'b')");
            // each refusal is followed by a pause of at least a millisecond: well past the sender's time-out
            long start = System.nanoTime();
            Await.until(
                    "the time-out has passed several times",
                    () -> harness.refusals.get() > 100 && System.nanoTime() - start > 3_500_000_000L);
            assertThat(database.value("SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'full_sink'"))
                    .isEqualTo(pid);
            harness.drain();
            Await.until("both commits", () -> harness.commits.size() == 2);
            assertThat(harness.rows()).containsExactly("INSERT 1", "INSERT 2");
        }
    }

    @Test
    void b55_a_dropped_slot_stops_the_reader() {
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("dropped")).streaming()) {
            killWalsender("dropped");
            Await.until("the slot could be dropped", () -> drop("dropped"));
            assertThat(harness.stopped()).isInstanceOf(SlotLostException.class).hasMessageContaining("was dropped");
        }
    }

    @Test
    void b55_a_slot_dropped_and_made_again_is_not_taken_for_the_old_one() {
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("replaced")).streaming()) {
            killWalsender("replaced");
            Await.until("the slot could be dropped", () -> drop("replaced"));
            database.execute(
                    "INSERT INTO notes VALUES (900, 'in the gap') ON CONFLICT DO NOTHING",
                    "SELECT pg_create_logical_replication_slot('replaced', 'pgoutput')");
            assertThat(harness.stopped()).isInstanceOf(SlotLostException.class);
        }
    }

    private boolean drop(String slot) {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_drop_replication_slot('" + slot + "')");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    @Test
    void a_slot_of_another_database_is_refused() {
        try (PostgresDatabase other = prepared(PostgresCluster.NEWEST, DatabaseOptions.plain())) {
            other.execute("SELECT pg_create_logical_replication_slot('foreign_slot', 'pgoutput')");
            try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("foreign_slot"))) {
                assertThat(harness.stopped())
                        .isInstanceOf(ReplicationException.class)
                        .hasMessageContaining("belongs to database");
            }
        }
    }

    @Test
    void a_second_reader_stands_by_until_the_first_is_gone() {
        ReaderHarness.Options options = ReaderHarness.Options.slot("shared");
        try (ReaderHarness second = first(options)) {
            Await.until("it takes over", () -> second.reader.state() == ReaderState.STREAMING);
        }
    }

    private ReaderHarness first(ReaderHarness.Options options) {
        try (ReaderHarness first = new ReaderHarness(database, options).streaming()) {
            ReaderHarness second = new ReaderHarness(database, options);
            Await.until("it stands by", () -> second.reader.state() == ReaderState.STANDBY);
            assertThat(first.reader.state()).isEqualTo(ReaderState.STREAMING);
            return second;
        }
    }

    @Test
    void a_lost_lock_session_is_noticed() {
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("lock_lost")).streaming()) {
            String pid = database.value("SELECT min(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid ="
                    + " hashtext('sluice:lock_lost')::oid");
            assertThat(pid).isNotNull();
            database.execute("SELECT pg_terminate_backend(" + pid + ")");
            Await.until("another session holds the lock", () -> {
                String now = database.value("SELECT min(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        + " AND objid = hashtext('sluice:lock_lost')::oid");
                return now != null && !now.equals(pid);
            });
            harness.streaming();
        }
    }

    @Test
    void values_are_printed_the_same_whatever_the_database_and_the_jvm_prefer() {
        TimeZone zone = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
        try (PostgresDatabase odd = prepared(PostgresCluster.NEWEST, DatabaseOptions.unusual())) {
            odd.execute(
                    "CREATE TABLE printed (id int PRIMARY KEY, t timestamptz, d date, f float8, b bytea, i interval)",
                    "ALTER PUBLICATION sluice ADD TABLE printed");
            try (ReaderHarness harness = new ReaderHarness(odd, ReaderHarness.Options.slot("odd")).streaming()) {
                odd.execute("INSERT INTO printed VALUES (1, '2026-02-03 04:05:06+00', '2026-02-03', 0.1::float8 + 0.2,"
                        + " '\\x00ff', '1 day 2 hours')");
                Await.until("the commit", () -> harness.commits.size() == 1);
                Change.Insert insert =
                        (Change.Insert) harness.commits.getFirst().changes().getFirst();
                List<String> values = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    values.add(insert.row().text(i));
                }
                assertThat(values)
                        .containsExactly(
                                "1",
                                "2026-02-03 04:05:06+00",
                                "2026-02-03",
                                "0.30000000000000004",
                                "\\x00ff",
                                "1 day 02:00:00");
            }
        } finally {
            TimeZone.setDefault(zone);
        }
    }

    @Test
    void creating_a_slot_says_which_sessions_it_waits_for() throws SQLException {
        try (Connection open = database.connect(sluice.testkit.postgres.PostgresServer.SUPERUSER, new Properties());
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("INSERT INTO noise VALUES ('open')");
            try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("waiting"))) {
                Await.until("the slot is being created", () -> harness.reader.creation() != null);
                WalReader.SlotCreation creation = harness.reader.creation();
                assertThat(harness.reader.state()).isEqualTo(ReaderState.CREATING_SLOT);
                List<sluice.core.dispatch.Notice> said = new ArrayList<>();
                ReaderClock later = new ReaderClock() {
                    @Override
                    public long nanos() {
                        return System.nanoTime() + 11_000_000_000L;
                    }

                    @Override
                    public void park(long nanos) {}
                };
                SlotCreationWatch watch = new SlotCreationWatch(
                        harness.reader,
                        sluice.server.postgres.PostgresUrl.parse(database.url("sluice_repl")),
                        later,
                        said::add);
                assertThat(creation).isNotNull();
                String pid = String.valueOf(
                        open.unwrap(org.postgresql.PGConnection.class).getBackendPID());
                Await.until("the waiting session is named", () -> {
                    watch.check();
                    return said.stream()
                            .anyMatch(notice -> notice.fields().getLast().contains(pid));
                });
                open.commit();
                harness.streaming();
            }
        }
    }
}
