package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Every stage once on each supported major: the tiers, the old rows, unchanged TOAST, a policy change, and that
/// nothing was installed.
class EveryMajorPgTest {
    static final List<Integer> MAJORS = PostgresCluster.MAJORS;

    /// Every user-visible catalog with what a run could leave behind in it. Statistics and sequences move by
    /// themselves.
    private static final String CATALOGS = """
            SELECT string_agg(kind || ' ' || number, ', ' ORDER BY kind) FROM (
              SELECT 'class' AS kind, count(*) AS number FROM pg_class
              UNION ALL SELECT 'proc', count(*) FROM pg_proc
              UNION ALL SELECT 'type', count(*) FROM pg_type
              UNION ALL SELECT 'namespace', count(*) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'
              UNION ALL SELECT 'trigger', count(*) FROM pg_trigger
              UNION ALL SELECT 'event trigger', count(*) FROM pg_event_trigger
              UNION ALL SELECT 'publication', count(*) FROM pg_publication
              UNION ALL SELECT 'publication table', count(*) FROM pg_publication_rel
              UNION ALL SELECT 'extension', count(*) FROM pg_extension
              UNION ALL SELECT 'policy', count(*) FROM pg_policy
              UNION ALL SELECT 'role', count(*) FROM pg_roles
              UNION ALL SELECT 'setting', count(*) FROM pg_db_role_setting
              UNION ALL SELECT 'operator', count(*) FROM pg_operator
              UNION ALL SELECT 'cast', count(*) FROM pg_cast
              UNION ALL SELECT 'subscription', count(*) FROM pg_subscription
              UNION ALL SELECT 'default acl', count(*) FROM pg_default_acl) AS counts
            """;

    @ParameterizedTest
    @FieldSource("MAJORS")
    void every_stage_works_and_only_the_slot_is_new(int major) throws Exception {
        try (PostgresDatabase database =
                PostgresCluster.of(major).createDatabase("every_major").withStandardRoles()) {
            run(database);
        }
    }

    @ParameterizedTest
    @FieldSource("MAJORS")
    void a_database_with_other_habits_is_read_the_same(int major) throws Exception {
        DatabaseOptions options = DatabaseOptions.unusual();
        try (PostgresDatabase database = PostgresCluster.of(major)
                .createDatabase("other_habits", options)
                .withStandardRoles()) {
            run(database);
        }
    }

    private static void run(PostgresDatabase database) throws Exception {
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, body text, at timestamptz, raw bytea)",
                "ALTER TABLE notes ALTER COLUMN body SET STORAGE EXTERNAL",
                "ALTER TABLE notes REPLICA IDENTITY FULL",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE TABLE members (team int, user_id uuid, PRIMARY KEY (team, user_id))",
                "CREATE TABLE teamwork (id int PRIMARY KEY, team int, what text)",
                "ALTER TABLE teamwork ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY team ON teamwork FOR SELECT TO authenticated USING (EXISTS"
                        + " (SELECT 1 FROM members m WHERE m.team = teamwork.team AND m.user_id = auth.uid()))",
                "GRANT SELECT ON members, teamwork, notes TO authenticated",
                "INSERT INTO members VALUES (1, '" + ALICE + "')",
                "CREATE PUBLICATION sluice FOR TABLE notes, teamwork");
        String before = database.value(CATALOGS);
        try (RunningSluice sluice = RunningSluice.on(database)) {
            stream(database, sluice);
            assertThat(database.value(CATALOGS)).isEqualTo(before);
            assertThat(database.rows("SELECT slot_name, temporary FROM pg_replication_slots WHERE database ="
                            + " current_database()"))
                    .containsExactly(List.of("sluice_" + database.name(), "f"));
        }
        assertThat(database.value(CATALOGS)).isEqualTo(before);
    }

    private static void stream(PostgresDatabase database, RunningSluice sluice) {
        String both = shape("n", "notes", "") + "," + shape("t", "teamwork", "");
        try (SseClient alice = sluice.stream(sluice.token(ALICE), both);
                SseClient bob = sluice.stream(sluice.token(BOB), both)) {
            String ready = alice.await("ready").data();
            assertThat(ready).contains("\"tier\":\"B\"", "\"tier\":\"C\"");
            bob.await("ready");

            String long1 = "repeat('x', 20000)";
            database.execute(
                    "INSERT INTO notes VALUES (1, '" + ALICE + "', " + long1
                            + ", '2026-03-01 12:00:00+00', '\\xdeadbeef')",
                    "UPDATE notes SET at = at + interval '1 day' WHERE id = 1",
                    "INSERT INTO teamwork VALUES (1, 1, 'for the team'), (2, 2, 'for others')",
                    "UPDATE notes SET owner_id = '" + BOB + "' WHERE id = 1",
                    "DELETE FROM notes WHERE id = 1",
                    "INSERT INTO notes VALUES (9, '" + ALICE + "', 'fence', NULL, NULL)",
                    "INSERT INTO notes VALUES (10, '" + BOB + "', 'fence', NULL, NULL)");

            var seen = alice.eventsUntil(
                    event -> event.is("change") && event.data().contains("fence"));
            var changes = seen.stream().filter(event -> event.is("change")).toList();
            assertThat(changes).hasSize(3);
            assertThat(changes.get(0).data())
                    .contains("\"op\":\"INSERT\"", "2026-03-01T12:00:00+00:00", "\\\\xdeadbeef");
            assertThat(changes.get(1).data()).contains("\"op\":\"UPDATE\"", "2026-03-02T12:00:00+00:00");
            assertThat(changes.get(2).data()).contains("for the team");
            assertThat(bob
                            .eventsUntil(
                                    event -> event.is("change") && event.data().contains("fence"))
                            .stream()
                            .filter(event -> event.is("change"))
                            .map(event -> event.json().get("op").asText())
                            .toList())
                    .containsExactly("INSERT", "DELETE");
        }
    }
}
