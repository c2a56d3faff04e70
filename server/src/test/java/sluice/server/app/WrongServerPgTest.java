package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.at;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.SessionQuery;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.postgres.PostgresServer;
import sluice.testkit.sse.SseClient;

/// Rights are read over one URL and rows over the other: they must lead to one primary, at the start and ever after.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WrongServerPgTest {
    private static final String SLOTS = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()";

    /// Of its own system, unlike the one that tests share.
    private final PostgresCluster cluster = PostgresCluster.start(PostgresCluster.NEWEST, Map.of());

    @AfterAll
    void close() {
        cluster.close();
    }

    /// A database of the same name and contents in another cluster.
    private PostgresDatabase namesake(PostgresDatabase database) {
        String made = Notes.database(cluster, "namesake").reconnect().name();
        cluster.database("postgres").execute("ALTER DATABASE " + made + " RENAME TO " + database.name());
        return cluster.database(database.name());
    }

    private static void assertRefused(PostgresDatabase database, Map<String, String> urls, String... words) {
        assertThatThrownBy(() -> RunningSluice.starting(database, urls).close())
                .isInstanceOf(StartException.class)
                .hasMessageContainingAll(words)
                .hasMessageNotContainingAny("pa:ss", "pa%3Ass", "not-this-one");
        assertThat(database.value(SLOTS)).isEqualTo("0");
    }

    @Test
    void a_pool_that_leads_to_another_system_refuses_the_start_and_both_settings_are_named() throws Exception {
        try (PostgresDatabase database = Notes.database("same_name");
                PostgresDatabase other = Notes.database(cluster, "same_name")) {
            assertRefused(
                    database,
                    Map.of("SLUICE_DB_AUTHZ_URL", other.url("sluice_authz")),
                    "SLUICE_DB_REPL_URL and SLUICE_DB_AUTHZ_URL",
                    "different database systems");
            assertThat(other.value(SLOTS)).isEqualTo("0");
        }
    }

    @Test
    void a_pool_that_leads_to_another_database_of_the_server_refuses_the_start() throws Exception {
        try (PostgresDatabase database = Notes.database("one");
                PostgresDatabase other = Notes.database("other")) {
            assertRefused(
                    database,
                    Map.of("SLUICE_DB_AUTHZ_URL", other.url("sluice_authz")),
                    "SLUICE_DB_REPL_URL and SLUICE_DB_AUTHZ_URL",
                    "\"" + database.name() + "\"",
                    "\"" + other.name() + "\"");
        }
    }

    @Test
    void a_replication_login_that_is_refused_refuses_the_start() throws Exception {
        try (PostgresDatabase database = Notes.database("login")) {
            String url = database.url("sluice_repl").replaceFirst("sluice_repl:[^@]*@", "sluice_repl:not-this-one@");
            assertRefused(
                    database,
                    Map.of("SLUICE_DB_REPL_URL", url + "?replication=database"),
                    "SLUICE_DB_REPL_URL",
                    "28P01",
                    "password authentication failed");
        }
    }

    /// The same system, so only its being a standby gives it away.
    @Test
    void a_standby_behind_either_url_refuses_the_start() throws Exception {
        try (PostgresDatabase database = Notes.database(cluster, "failover")) {
            database.execute("GRANT SELECT (id) ON notes TO sluice_authz");
            cluster.stop(PostgresServer.Stop.FAST);
            try (PostgresCluster copy = cluster.startStandby()) {
                // closing it would drop it, which a standby cannot
                PostgresDatabase standby = copy.database(database.name());
                cluster.start();
                database.reconnect();
                Map<String, String> both = Map.of(
                        "SLUICE_DB_REPL_URL",
                        standby.url("sluice_repl") + "?replication=database",
                        "SLUICE_DB_AUTHZ_URL",
                        standby.url("sluice_authz"));
                assertThat(standby.value("SELECT pg_is_in_recovery()")).isEqualTo("t");

                assertRefused(database, both, "SLUICE_DB_AUTHZ_URL", "the database is a standby");
                assertRefused(
                        database,
                        Map.of("SLUICE_DB_AUTHZ_URL", standby.url("sluice_authz")),
                        "SLUICE_DB_AUTHZ_URL",
                        "the database is a standby");
                assertRefused(
                        database,
                        Map.of("SLUICE_DB_REPL_URL", standby.url("sluice_repl") + "?replication=database"),
                        "SLUICE_DB_REPL_URL leads to a standby");
                assertAsksNobodyWhoHasSignedOut(standby);
                standby.reconnect();
            }
        }
    }

    /// A pool may come to lead to one later. It may lack the end of a session for as long as it lags.
    private static void assertAsksNobodyWhoHasSignedOut(PostgresDatabase standby) {
        Duration timeout = Duration.ofSeconds(20);
        try (Pool pool = Pool.open(
                PostgresUrl.parse(standby.url("sluice_authz")), new Pool.Sizing(1, 0, timeout), Pool.Reset.ROLLBACK)) {
            IdType ids = Objects.requireNonNull(IdType.of(new PgType.Base(Oid.INT4, "integer")));
            SessionQuery query = SessionQuery.ofSessions(pool, new RevocationTables.Table("public", "notes"), timeout);
            assertThatThrownBy(() -> query.exists(ids, "1")).hasMessageContaining("standby");
        }
    }

    @Test
    void a_replication_url_that_leads_elsewhere_at_a_reconnect_ends_the_server_and_no_foreign_row_is_sent()
            throws Exception {
        try (PostgresDatabase database = Notes.database("moved");
                PostgresDatabase other = namesake(database);
                TcpProxy proxy = TcpProxy.to(database.cluster().port());
                RunningSluice sluice = RunningSluice.on(
                        database,
                        Map.of(
                                "SLUICE_DB_REPL_URL",
                                at(database.url("sluice_repl"), proxy.port()) + "?replication=database"))) {
            try (SseClient alice = Notes.open(sluice, ALICE)) {
                Notes.insert(database, 1, ALICE);
                assertThat(Notes.idsUntil(alice, 1)).containsExactly(1);

                other.rows("SELECT pg_create_logical_replication_slot(?, 'pgoutput')", Notes.slot(database));
                Notes.insert(other, 2, ALICE);
                proxy.lead(cluster.port());
                proxy.cut();

                assertThat(sluice.server().ended().get(30, TimeUnit.SECONDS))
                        .contains("SLUICE_DB_REPL_URL", "SLUICE_DB_AUTHZ_URL", "different database systems");
                assertThat(sluice.readyStatus()).isEqualTo(503);
                sluice.server().close();
                assertThat(alice.await("error").data()).contains("\"server_shutdown\"");
                assertThat(Notes.ids(alice)).containsExactly(1);
            }
        }
    }
}
