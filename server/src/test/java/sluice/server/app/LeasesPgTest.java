package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Policies that time takes away without anything being written.
class LeasesPgTest {
    @Test
    void a_shape_ends_when_the_time_its_policy_names_has_come() throws Exception {
        try (PostgresDatabase database = notes("lease_time")) {
            String end = Objects.requireNonNull(database.rows("SELECT now() + interval '8 seconds'")
                    .getFirst()
                    .getFirst());
            database.execute("CREATE POLICY sale ON notes FOR SELECT TO authenticated USING (now() < '" + end
                    + "'::timestamptz AND owner_id = (SELECT auth.uid()))");
            try (RunningSluice sluice = RunningSluice.on(database);
                    SseClient stream =
                            sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("s", "notes", ""))) {
                assertThat(stream.await("ready").data()).contains("\"tier\":\"B\"");

                assertThat(stream.await("error").data()).contains("shape_not_authorized", "at this time");

                assertThat(database.rows("SELECT now() >= '" + end + "'::timestamptz"))
                        .singleElement()
                        .satisfies(row -> assertThat(row).containsExactly("t"));
                assertThat(sluice.figure("sluice_authz_lease_refreshes_total{result=\"revoked\"}"))
                        .isEqualTo(1);
                try (SseClient again =
                        sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("s", "notes", ""))) {
                    assertThat(again.await("ready").data()).contains("shape_not_authorized");
                }
            }
        }
    }

    @Test
    void a_shape_of_administrators_ends_when_its_caller_is_none_any_more() throws Exception {
        try (PostgresDatabase database = notes("lease_caller")) {
            database.execute(
                    "CREATE TABLE admins (id uuid PRIMARY KEY)",
                    "INSERT INTO admins VALUES ('" + RunningSluice.ALICE + "'), ('" + RunningSluice.BOB + "')",
                    "CREATE FUNCTION is_admin() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER AS"
                            + " 'SELECT EXISTS (SELECT FROM public.admins WHERE id = auth.uid())'",
                    "CREATE POLICY admins_only ON notes FOR SELECT TO authenticated USING (is_admin())");
            try (RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_AUTHZ_LEASE", "1s"));
                    SseClient alice =
                            sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("s", "notes", ""));
                    SseClient bob =
                            sluice.stream(sluice.token(RunningSluice.BOB), RunningSluice.shape("s", "notes", ""))) {
                assertThat(alice.await("ready").data()).contains("\"tier\":\"C\"");
                bob.await("ready");
                database.execute("DELETE FROM admins WHERE id = '" + RunningSluice.ALICE + "'");

                assertThat(alice.await("error").data()).contains("shape_not_authorized");

                Notes.insert(database, 1, RunningSluice.BOB);
                assertThat(Notes.idsUntil(bob, 1)).containsExactly(1);
                assertThat(Notes.ids(alice)).isEmpty();
                assertThat(bob.received()).noneMatch(event -> event.is("error"));
            }
        }
    }

    private static PostgresDatabase notes(String name) {
        PostgresDatabase database =
                PostgresCluster.of(PostgresCluster.NEWEST).createDatabase(name).withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }
}
