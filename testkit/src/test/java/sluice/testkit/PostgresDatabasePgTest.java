package sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.postgresql.PGConnection;
import org.postgresql.replication.PGReplicationStream;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresDatabasePgTest {
    private static final String ALICE = "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"role\":\"authenticated\"}";

    private final PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
            .createDatabase("Odd \"name")
            .withStandardRoles();

    @BeforeAll
    void schema() {
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner uuid, body text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes USING (owner = (SELECT auth.uid()))",
                "INSERT INTO notes VALUES (1, '00000000-0000-0000-0000-00000000000a', 'hers'),"
                        + " (2, '00000000-0000-0000-0000-00000000000b', NULL)");
    }

    @AfterAll
    void close() {
        database.close();
    }

    @Test
    void rows_are_text_and_null() {
        assertThat(database.rows("SELECT id, body FROM notes WHERE id > ? ORDER BY id", 0))
                .containsExactly(List.of("1", "hers"), Arrays.asList("2", null));
    }

    @Test
    void times_are_printed_in_utc_whatever_the_jvm_and_the_database_say() {
        assertThat(database.value("SELECT to_jsonb('2026-01-02 03:04:05+00'::timestamptz)"))
                .isEqualTo("\"2026-01-02T03:04:05+00:00\"");
        assertThat(database.value("SELECT '2026-01-02 03:04:05+00'::timestamptz"))
                .isEqualTo("2026-01-02 03:04:05+00");
    }

    @Test
    void a_role_sees_what_its_policies_and_claims_let_it_see() {
        assertThat(database.asRole("authenticated", ALICE).rows("SELECT id FROM notes"))
                .containsExactly(List.of("1"));
        assertThat(database.asRole("anon", null).rows("SELECT id FROM notes")).isEmpty();
        assertThat(database.asRole("service_role", null).rows("SELECT id FROM notes"))
                .hasSize(2);
    }

    @Test
    void claims_are_readable_as_functions() {
        assertThat(database.asRole("authenticated", ALICE)
                        .rows("SELECT auth.uid(), auth.role(), auth.jwt() ->> 'role', current_user"))
                .containsExactly(List.of(
                        "00000000-0000-0000-0000-00000000000a", "authenticated", "authenticated", "authenticated"));
    }

    @Test
    void nothing_of_a_role_stays_in_the_session() {
        database.asRole("authenticated", ALICE).rows("SELECT 1");
        assertThat(database.rows("SELECT current_user, coalesce(current_setting('request.jwt.claims', true), '')"))
                .containsExactly(List.of("postgres", ""));
    }

    @Test
    void a_refusal_names_its_sqlstate_and_leaves_the_session_usable() {
        assertThatThrownBy(() -> database.asRole("anon", null).rows("SELECT * FROM pg_authid"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("42501 ");
        assertThat(database.value("SELECT 1")).isEqualTo("1");
    }

    @Test
    void the_pool_role_may_become_the_application_roles_and_no_other() throws SQLException {
        try (Connection connection = database.connect("sluice_authz", new Properties());
                var statement = connection.createStatement()) {
            assertThat(statement.execute("SET ROLE authenticated")).isFalse();
            assertThatThrownBy(() -> statement.execute("SET ROLE service_role"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("permission denied");
        }
    }

    @Test
    void the_products_accounts_need_their_password() {
        Properties wrong = new Properties();
        wrong.setProperty("user", "sluice_repl");
        wrong.setProperty("password", "wrong");
        assertThatThrownBy(() -> java.sql.DriverManager.getConnection(database.jdbcUrl(), wrong))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("28P01"));
    }

    @Test
    void a_url_escapes_what_it_must() {
        URI url = URI.create(database.url("sluice_repl"));
        assertThat(url.getScheme()).isEqualTo("postgres");
        assertThat(url.getHost()).isEqualTo("127.0.0.1");
        assertThat(url.getPort()).isEqualTo(database.cluster().port());
        assertThat(URLDecoder.decode(url.getRawPath().substring(1), StandardCharsets.UTF_8))
                .isEqualTo(database.name());
        assertThat(URLDecoder.decode(url.getRawUserInfo(), StandardCharsets.UTF_8))
                .isEqualTo("sluice_repl:" + StandardRoles.PASSWORD);
    }

    @Test
    void closing_drops_a_slot_that_is_in_use() throws SQLException {
        PostgresDatabase other = PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("slots");
        other.rows("SELECT pg_create_logical_replication_slot('in_use', 'test_decoding')");
        Properties replication = new Properties();
        replication.setProperty("replication", "database");
        replication.setProperty("preferQueryMode", "simple");
        replication.setProperty("assumeMinServerVersion", "15");
        try (Connection connection = other.connect("postgres", replication)) {
            PGReplicationStream stream = connection
                    .unwrap(PGConnection.class)
                    .getReplicationAPI()
                    .replicationStream()
                    .logical()
                    .withSlotName("in_use")
                    .start();
            Await.until(
                    "the slot is active",
                    () -> "t"
                            .equals(other.value("SELECT active FROM pg_replication_slots WHERE slot_name = 'in_use'")));
            other.close();
            assertThat(stream.isClosed()).isFalse();
        }
        assertThat(database.rows("SELECT 1 FROM pg_replication_slots WHERE slot_name = 'in_use'"))
                .isEmpty();
        assertThat(database.rows("SELECT 1 FROM pg_database WHERE datname = ?", other.name()))
                .isEmpty();
    }
}
