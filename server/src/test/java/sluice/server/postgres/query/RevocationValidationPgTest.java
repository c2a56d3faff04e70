package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.postgres.query.Questions.TIMEOUT;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;
import sluice.core.session.RevocationTables.Table;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.SlotName;
import sluice.server.postgres.query.StartupValidation.Expectation;
import sluice.server.postgres.query.StartupValidation.Revocation;
import sluice.server.postgres.query.StartupValidation.Revocation.Lookup;
import sluice.server.postgres.query.StartupValidation.SlotRecreation;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

class RevocationValidationPgTest {
    private static PostgresDatabase database;

    @BeforeAll
    static void create() {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("revocation_tables")
                .withStandardRoles();
        database.execute("CREATE TABLE notes (id int PRIMARY KEY)", "GRANT USAGE ON SCHEMA auth TO sluice_authz");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void healthy() {
        database.execute(
                "DROP PUBLICATION IF EXISTS sluice",
                "DROP TABLE IF EXISTS auth.sessions, auth.users",
                "DROP SCHEMA IF EXISTS closed CASCADE",
                "CREATE TABLE auth.sessions (id uuid PRIMARY KEY, user_id uuid)",
                "CREATE TABLE auth.users (id uuid PRIMARY KEY, banned_until timestamptz)",
                "GRANT SELECT (id, banned_until) ON auth.users TO sluice_authz",
                "CREATE PUBLICATION sluice FOR TABLE notes, auth.sessions, auth.users");
    }

    private static List<Finding> findings(Lookup lookup) {
        return findings(new Table("auth", "sessions"), new Table("auth", "users"), "banned_until", lookup);
    }

    private static List<Finding> findings(Table sessions, @Nullable Table users, String column, Lookup lookup) {
        Expectation expectation = new Expectation(
                new SlotName("revocation_validation"),
                "sluice",
                List.of("authenticated"),
                "sluice_repl",
                null,
                SlotRecreation.FORBIDDEN,
                new Revocation(new RevocationTables(sessions, users, column), lookup));
        try (Pool pool = Questions.pool(database)) {
            return new StartupValidation(pool, expectation, TIMEOUT)
                    .run().findings().stream()
                            .filter(finding -> finding.code().startsWith("revocation")
                                    || finding.code().startsWith("session")
                                    || finding.code().startsWith("ban_"))
                            .toList();
        }
    }

    private static List<String> codes(Lookup lookup) {
        return codes(findings(lookup));
    }

    private static List<String> codes(List<Finding> findings) {
        return findings.stream()
                .map(finding -> finding.severity() + " " + finding.code() + " " + finding.subject())
                .toList();
    }

    /// Runs what each finding says to run.
    private static void remedy(List<Finding> findings) {
        for (Finding finding : findings) {
            for (String statement : finding.remedy().split(";", -1)) {
                String sql = statement.replaceAll("--.*", "").strip();
                if (!sql.isEmpty()) {
                    database.execute(sql);
                }
            }
        }
    }

    @Test
    void published_tables_with_their_keys_are_taken_as_they_are() {
        assertThat(findings(Lookup.OFF)).isEmpty();
        assertThat(findings(new Table("auth", "sessions"), null, "banned_until", Lookup.OFF))
                .isEmpty();
    }

    @Test
    void a_table_that_does_not_exist_is_refused() {
        assertThat(codes(findings(new Table("auth", "logins"), new Table("x", "y"), "banned_until", Lookup.ON)))
                .containsExactly(
                        "REFUSAL revocation_table_missing SLUICE_REVOCATION_SESSIONS_TABLE",
                        "REFUSAL revocation_table_missing SLUICE_REVOCATION_USERS_TABLE");
    }

    @Test
    void a_table_outside_the_publication_is_refused_until_its_remedy_was_run() {
        database.execute("ALTER PUBLICATION sluice DROP TABLE auth.sessions, auth.users");
        assertThat(codes(Lookup.OFF))
                .containsExactly(
                        "REFUSAL revocation_not_published auth.sessions",
                        "REFUSAL revocation_not_published auth.users");
        remedy(findings(Lookup.OFF));
        assertThat(findings(Lookup.OFF)).isEmpty();
    }

    @Test
    void a_publication_without_deletes_is_refused_until_its_remedy_was_run() {
        database.execute("ALTER PUBLICATION sluice SET (publish = 'insert, update')");
        assertThat(codes(Lookup.OFF)).hasSize(2).contains("REFUSAL revocation_not_published auth.sessions");
        remedy(findings(Lookup.OFF));
        assertThat(findings(Lookup.OFF)).isEmpty();
    }

    @Test
    void a_replica_identity_without_the_id_is_refused_until_its_remedy_was_run() {
        database.execute(
                "ALTER TABLE auth.sessions DROP CONSTRAINT sessions_pkey, ADD PRIMARY KEY (user_id)",
                "CREATE UNIQUE INDEX only_id ON auth.users (id)",
                "ALTER TABLE auth.users REPLICA IDENTITY USING INDEX only_id");
        assertThat(codes(Lookup.OFF)).containsExactly("REFUSAL revocation_identity auth.sessions");
        remedy(findings(Lookup.OFF));
        assertThat(findings(Lookup.OFF)).isEmpty();
    }

    @Test
    void a_column_that_is_missing_or_not_published_is_refused() {
        database.execute(
                "ALTER PUBLICATION sluice DROP TABLE auth.users",
                "ALTER PUBLICATION sluice ADD TABLE auth.users (id)",
                "ALTER TABLE auth.sessions RENAME COLUMN id TO sid");
        assertThat(codes(Lookup.OFF))
                .containsExactly("REFUSAL revocation_identity auth.sessions", "REFUSAL revocation_column auth.users");
        database.execute("ALTER TABLE auth.sessions REPLICA IDENTITY FULL");
        assertThat(codes(Lookup.OFF))
                .containsExactly("REFUSAL revocation_column auth.sessions", "REFUSAL revocation_column auth.users");
        database.execute("ALTER TABLE auth.sessions RENAME COLUMN sid TO id");
        remedy(findings(Lookup.OFF));
        assertThat(findings(Lookup.OFF)).isEmpty();
    }

    @Test
    void ids_and_bans_of_types_that_cannot_be_compared_are_refused() {
        database.execute(
                "ALTER TABLE auth.sessions ALTER id TYPE numeric USING 1",
                "ALTER TABLE auth.users ALTER banned_until TYPE bool USING true");
        assertThat(codes(Lookup.OFF))
                .containsExactly("REFUSAL revocation_id_type auth.sessions", "REFUSAL revocation_ban_type auth.users");
        database.execute(
                "CREATE COLLATION auth.blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                "CREATE DOMAIN auth.outer_id AS bigint",
                "CREATE DOMAIN auth.inner_id AS auth.outer_id",
                "ALTER TABLE auth.sessions ALTER id TYPE text COLLATE auth.blind",
                "ALTER TABLE auth.users ALTER banned_until TYPE date USING now(), ALTER id TYPE auth.inner_id USING 1");
        assertThat(codes(Lookup.OFF)).containsExactly("REFUSAL revocation_id_type auth.sessions");
        remedy(findings(Lookup.OFF));
        assertThat(findings(Lookup.OFF)).isEmpty();
        database.execute(
                "DROP TABLE auth.sessions, auth.users",
                "DROP DOMAIN auth.inner_id, auth.outer_id",
                "DROP COLLATION auth.blind");
    }

    @Test
    void a_partitioned_table_is_refused() {
        database.execute(
                "DROP TABLE auth.sessions",
                "CREATE TABLE auth.sessions (id uuid PRIMARY KEY) PARTITION BY HASH (id)",
                "CREATE TABLE auth.sessions_0 PARTITION OF auth.sessions FOR VALUES WITH (MODULUS 1, REMAINDER 0)");
        assertThat(codes(Lookup.OFF)).containsExactly("REFUSAL revocation_table_kind auth.sessions");
    }

    @Test
    void a_lookup_needs_no_more_than_select_of_the_id_and_is_refused_without() {
        database.execute(
                "CREATE SCHEMA closed",
                "CREATE TABLE closed.sessions (id uuid PRIMARY KEY, secret text)",
                "ALTER PUBLICATION sluice ADD TABLE closed.sessions");
        Table table = new Table("closed", "sessions");
        List<Finding> found = findings(table, null, "banned_until", Lookup.ON);
        assertThat(codes(found)).containsExactly("REFUSAL session_lookup_grant closed.sessions");
        assertThat(findings(table, null, "banned_until", Lookup.OFF)).isEmpty();

        remedy(found);

        assertThat(findings(table, null, "banned_until", Lookup.ON)).isEmpty();
        database.execute("INSERT INTO closed.sessions VALUES ('11111111-0000-4000-8000-000000000001', 'x')");
        IdType uuids = Objects.requireNonNull(IdType.of(new PgType.Base(Oid.UUID, "uuid")));
        try (Pool pool = Questions.pool(database)) {
            SessionQuery query = SessionQuery.ofSessions(pool, table, TIMEOUT);
            assertThat(query.exists(uuids, "11111111-0000-4000-8000-000000000001"))
                    .isTrue();
            assertThat(query.exists(uuids, "{11111111000040008000000000000001}"))
                    .isTrue();
            assertThat(query.exists(uuids, "22222222-0000-4000-8000-000000000001"))
                    .isFalse();
            assertThat(query.exists(uuids, "no uuid")).isFalse();
        }
    }

    @Test
    void a_lookup_that_row_level_security_blinds_is_a_warning_until_its_remedy_was_run() {
        database.execute(
                "GRANT SELECT (id) ON auth.sessions TO sluice_authz",
                "ALTER TABLE auth.sessions ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY others ON auth.sessions FOR SELECT TO authenticated USING (true)",
                "CREATE POLICY writes ON auth.sessions FOR INSERT TO sluice_authz WITH CHECK (true)");
        database.execute("DROP POLICY others ON auth.sessions");
        assertThat(codes(Lookup.ON)).containsExactly("WARNING session_lookup_rls auth.sessions");
        assertThat(findings(Lookup.OFF)).isEmpty();

        remedy(findings(Lookup.ON));

        assertThat(findings(Lookup.ON)).isEmpty();
    }

    @Test
    void a_lookup_under_policies_says_no_only_where_they_show_every_row() {
        database.execute("GRANT SELECT (id) ON auth.sessions TO sluice_authz");
        IdType uuids = Objects.requireNonNull(IdType.of(new PgType.Base(Oid.UUID, "uuid")));
        String id = "11111111-0000-4000-8000-000000000001";
        Table table = new Table("auth", "sessions");
        String of = " ON auth.sessions";
        List<String> hiding = List.of(
                "CREATE POLICY p" + of + " USING (false)",
                "CREATE POLICY p" + of + " FOR SELECT TO authenticated USING (true)",
                "CREATE POLICY p" + of + " FOR UPDATE USING (true)",
                "CREATE POLICY p" + of + " FOR SELECT TO sluice_authz",
                "CREATE POLICY p" + of + " USING (true); CREATE POLICY r" + of + " AS RESTRICTIVE USING (id IS NULL)",
                "CREATE POLICY p" + of + " USING (1 / 0 = 1)");
        List<String> showing = List.of(
                "CREATE POLICY p" + of + " USING (true)",
                "CREATE POLICY p" + of + " USING (false); CREATE POLICY q" + of + " FOR SELECT USING (true)",
                "CREATE POLICY p" + of + " USING (true); CREATE POLICY r" + of + " AS RESTRICTIVE FOR INSERT",
                "CREATE POLICY p" + of + " USING (true); CREATE POLICY r" + of
                        + " AS RESTRICTIVE TO authenticated USING (false)");
        database.execute("ALTER TABLE auth.sessions ENABLE ROW LEVEL SECURITY");
        try (Pool pool = Questions.pool(database)) {
            SessionQuery query = SessionQuery.ofSessions(pool, table, TIMEOUT);
            assertThatThrownBy(() -> query.exists(uuids, id)).isInstanceOf(QueryException.class);
            for (String policies : hiding) {
                database.execute(policies.split("; ", -1));
                assertThatThrownBy(() -> query.exists(uuids, id)).as(policies).isInstanceOf(QueryException.class);
                assertThat(codes(findings(table, null, "banned_until", Lookup.ON)))
                        .as(policies)
                        .containsExactly("WARNING session_lookup_rls auth.sessions");
                database.execute("DROP POLICY p" + of, "DROP POLICY IF EXISTS r" + of);
            }
            for (String policies : showing) {
                database.execute(policies.split("; ", -1));
                assertThat(query.exists(uuids, id)).as(policies).isFalse();
                assertThat(findings(table, null, "banned_until", Lookup.ON))
                        .as(policies)
                        .isEmpty();
                database.execute("DROP POLICY p" + of, "DROP POLICY IF EXISTS q" + of, "DROP POLICY IF EXISTS r" + of);
            }
        }
    }

    @Test
    void a_lookup_of_bans_needs_the_id_and_the_ban_and_is_warned_of_without_until_its_remedy_was_run() {
        database.execute(
                "GRANT SELECT (id) ON auth.sessions TO sluice_authz",
                "REVOKE SELECT (banned_until) ON auth.users FROM sluice_authz");
        assertThat(codes(Lookup.ON)).containsExactly("WARNING ban_lookup_grant auth.users");
        assertThat(findings(Lookup.OFF)).isEmpty();
        assertThat(findings(new Table("auth", "sessions"), null, "banned_until", Lookup.ON))
                .isEmpty();
        remedy(findings(Lookup.ON));
        assertThat(findings(Lookup.ON)).isEmpty();

        database.execute("ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY");
        assertThat(codes(Lookup.ON)).containsExactly("WARNING ban_lookup_rls auth.users");
        remedy(findings(Lookup.ON));
        assertThat(findings(Lookup.ON)).isEmpty();
    }

    @Test
    void a_ban_is_one_until_it_ends_whatever_its_type() {
        IdType uuids = Objects.requireNonNull(IdType.of(new PgType.Base(Oid.UUID, "uuid")));
        String id = "11111111-0000-4000-8000-000000000001";
        for (String type : List.of("timestamptz", "timestamp", "date")) {
            database.execute(
                    "ALTER TABLE auth.users ALTER banned_until TYPE " + type + " USING NULL", "DELETE FROM auth.users");
            try (Pool pool = Questions.pool(database)) {
                SessionQuery bans = SessionQuery.ofBans(pool, new Table("auth", "users"), "banned_until", TIMEOUT);
                assertThat(bans.exists(uuids, id)).as("no row").isFalse();
                database.execute("INSERT INTO auth.users VALUES ('" + id + "')");
                assertThat(bans.exists(uuids, id)).as("no ban").isFalse();
                for (String until : List.of("'infinity'", "now() + interval '3 days'")) {
                    database.execute("UPDATE auth.users SET banned_until = " + until);
                    assertThat(bans.exists(uuids, id)).as(type + " " + until).isTrue();
                }
                for (String until : List.of("'-infinity'", "now() - interval '3 days'")) {
                    database.execute("UPDATE auth.users SET banned_until = " + until);
                    assertThat(bans.exists(uuids, id)).as(type + " " + until).isFalse();
                }
                assertThat(bans.exists(uuids, "no uuid")).isFalse();
            }
        }
    }

    @Test
    void ids_of_every_type_are_compared_by_the_database_as_they_are_here() {
        Map<String, Integer> types =
                Map.of("uuid", Oid.UUID, "int4", Oid.INT4, "int8", Oid.INT8, "text", Oid.TEXT, "char(8)", Oid.BPCHAR);
        Map<String, String> ids = Map.of(
                "uuid",
                "A1111111-0000-4000-8000-000000000001",
                "int4",
                " +0042",
                "int8",
                "-7",
                "text",
                "Ab ",
                "char(8)",
                "ab   ");
        types.forEach((name, oid) -> {
            database.execute(
                    "CREATE TABLE auth.logins (id " + name + " PRIMARY KEY)",
                    "GRANT SELECT (id) ON auth.logins TO sluice_authz",
                    "INSERT INTO auth.logins VALUES ('" + ids.get(name) + "')");
            IdType type = Objects.requireNonNull(IdType.of(new PgType.Base(oid, name)));
            String printed = database.value("SELECT id::text FROM auth.logins");
            assertThat(type.read(String.valueOf(ids.get(name))))
                    .isEqualTo(new IdType.Reading.Known(type.printed(String.valueOf(printed))));
            try (Pool pool = Questions.pool(database)) {
                SessionQuery query = SessionQuery.ofSessions(pool, new Table("auth", "logins"), TIMEOUT);
                assertThat(query.exists(type, String.valueOf(ids.get(name)))).isTrue();
                assertThat(query.exists(type, "4294967296")).isFalse();
            } finally {
                database.execute("DROP TABLE auth.logins");
            }
        });
    }
}
