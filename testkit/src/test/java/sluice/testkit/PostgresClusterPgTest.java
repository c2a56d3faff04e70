package sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sluice.testkit.postgres.PostgresServer;

class PostgresClusterPgTest {
    static Stream<Integer> majors() {
        return PostgresCluster.MAJORS.stream();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void a_cluster_is_of_the_wanted_version_and_decodes_logically(int major) {
        try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("cluster")) {
            assertThat(database.value("SHOW server_version_num")).startsWith(Integer.toString(major));
            database.execute("CREATE TABLE notes (id int)");
            database.rows("SELECT pg_create_logical_replication_slot(?, 'test_decoding')", "cluster_" + major);
            database.execute("INSERT INTO notes VALUES (7)");
            assertThat(database.rows(
                            "SELECT data FROM pg_logical_slot_get_changes(?, NULL, NULL) WHERE data LIKE 'table%'",
                            "cluster_" + major))
                    .containsExactly(List.of("table public.notes: INSERT: id[integer]:7"));
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void defaults_that_hide_faults_are_not_taken(int major) {
        try (PostgresDatabase database = PostgresCluster.of(major).createDatabase("cluster")) {
            assertThat(setting(database, "synchronous_commit")).isEqualTo("on");
            assertThat(setting(database, "wal_sender_timeout")).isEqualTo("60000");
            assertThat(Integer.parseInt(setting(database, "max_wal_senders"))).isGreaterThanOrEqualTo(64);
            assertThat(Integer.parseInt(setting(database, "max_replication_slots")))
                    .isGreaterThanOrEqualTo(64);
            assertThat(Integer.parseInt(setting(database, "max_connections"))).isGreaterThanOrEqualTo(200);
            assertThat(database.value("SELECT reset_val FROM pg_settings WHERE name = 'TimeZone'"))
                    .as("the driver sends the JVM's zone")
                    .isEqualTo(System.getProperty("user.timezone", "UTC"));
            assertThat(database.cluster().serverTimeZone()).isEqualTo("America/St_Johns");
        }
    }

    private static String setting(PostgresDatabase database, String name) {
        return String.valueOf(database.value("SELECT setting FROM pg_settings WHERE name = ?", name));
    }

    @Test
    void the_shared_cluster_is_one_and_cannot_be_stopped() {
        PostgresCluster shared = PostgresCluster.of(PostgresCluster.NEWEST);
        assertThat(PostgresCluster.of(PostgresCluster.NEWEST)).isSameAs(shared);
        assertThatThrownBy(() -> shared.stop(PostgresServer.Stop.FAST)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_cluster_of_ones_own_keeps_its_data_over_a_restart_and_a_crash() {
        try (PostgresCluster own =
                PostgresCluster.start(PostgresCluster.NEWEST, Map.of("max_slot_wal_keep_size", "64MB"))) {
            PostgresDatabase database = own.createDatabase("own");
            assertThat(setting(database, "max_slot_wal_keep_size")).isEqualTo("64");
            database.execute("CREATE TABLE notes (id int)", "INSERT INTO notes VALUES (1)");
            own.stop(PostgresServer.Stop.FAST);
            assertThatThrownBy(database::connect).hasRootCauseInstanceOf(java.net.ConnectException.class);
            own.start();
            assertThat(database.reconnect().value("SELECT count(*) FROM notes")).isEqualTo("1");
            own.stop(PostgresServer.Stop.IMMEDIATE);
            own.start();
            assertThat(database.reconnect().value("SELECT count(*) FROM notes")).isEqualTo("1");
            assertThat(own.log()).contains("database system was not properly shut down");
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void a_database_can_have_another_collation_and_other_session_defaults(int major) throws SQLException {
        try (PostgresDatabase database =
                PostgresCluster.of(major).createDatabase("unusual", DatabaseOptions.unusual())) {
            assertThat(database.value("SELECT datlocprovider FROM pg_database WHERE datname = current_database()"))
                    .isEqualTo("i");
            assertThat(database.value("SELECT 'a' < 'B'"))
                    .as("C would order by bytes")
                    .isEqualTo("t");
            assertThat(database.rows("SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setdatabase ="
                            + " (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1"))
                    .contains(List.of("TimeZone=Australia/Sydney"), List.of("extra_float_digits=0"));
            try (var connection = database.connect();
                    var statement = connection.createStatement();
                    var result = statement.executeQuery("SELECT '\\x00ff'::bytea::text")) {
                assertThat(result.next()).isTrue();
                assertThat(result.getString(1)).isEqualTo("\\000\\377");
            }
        }
    }
}
