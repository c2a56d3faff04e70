package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Decisions in process are confirmed by PostgreSQL while the server runs.
class CrossCheckPgTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void decisions_of_every_kind_are_confirmed_and_none_diverges() throws Exception {
        try (PostgresDatabase database = documents("cross_check_clean");
                RunningSluice sluice =
                        RunningSluice.on(database, Map.of("SLUICE_TIER_B_VERIFY", "4", "SLUICE_TIER_B_SAMPLE", "2"));
                SseClient compiled =
                        sluice.stream(sluice.token(RunningSluice.ALICE), RunningSluice.shape("b", "documents", ""));
                SseClient folded = sluice.stream(
                        sluice.token(RunningSluice.ALICE),
                        RunningSluice.shape(
                                "a", "documents", ",\"filter\":\"owner_id=eq." + RunningSluice.ALICE + "\""))) {
            assertThat(compiled.await("ready").data()).contains("\"tier\":\"B\"");
            assertThat(folded.await("ready").data()).contains("\"tier\":\"A\"");
            // the whole shape is confirmed before any row
            awaitAgreed(sluice, 1);
            for (int i = 0; i < 20; i++) {
                String owner = i % 2 == 0 ? RunningSluice.ALICE : RunningSluice.BOB;
                database.execute("INSERT INTO documents VALUES (" + i + ", '" + owner + "', " + (i % 3) + ", '"
                        + "{\"tag\": \"a\\u00e9\"}', ARRAY['x', NULL, '\"y\"'], " + (i % 5 == 0 ? "NULL" : "'t'")
                        + ")");
            }
            database.execute("UPDATE documents SET level = 9 WHERE id = 4", "DELETE FROM documents WHERE id = 2");
            awaitAgreed(sluice, 8);

            sluice.awaitPolls();
            assertThat(sluice.metrics().lines().filter(line -> line.startsWith("sluice_authz_")))
                    .noneMatch(line -> line.contains("result=\"diverged\""))
                    .noneMatch(line -> line.contains("result=\"failed\""))
                    .noneMatch(line -> line.startsWith("sluice_authz_divergences_total{"))
                    .noneMatch(line -> line.startsWith("sluice_authz_downgrades_total{"));
            assertThat(compiled.received()).noneMatch(event -> event.is("warning"));
        }
    }

    /// The server cannot be made wrong from outside, so PostgreSQL is: its `=` of `uuid` comes to mean `<>`.
    @Test
    void a_server_that_decides_otherwise_than_postgresql_leaves_the_rule_to_it() throws Exception {
        try (PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("cross_check_wrong")
                .withStandardRoles()) {
            database.execute(
                    "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid)",
                    "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                    "CREATE PUBLICATION sluice FOR TABLE notes");
            CapturedLog log = CapturedLog.of("sluice");
            try (RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_TIER_B_SAMPLE", "1"));
                    SseClient stream = sluice.stream(
                            sluice.token(RunningSluice.ALICE), RunningSluice.shape("mine", "notes", ""))) {
                assertThat(stream.await("ready").data()).contains("\"tier\":\"B\"");
                database.execute("INSERT INTO notes VALUES (1, '" + RunningSluice.ALICE + "')");
                stream.await("change");
                awaitAgreed(sluice, 1);

                database.execute("UPDATE pg_operator SET oprcode = 'uuid_ne' WHERE oprname = '='"
                        + " AND oprleft = 'uuid'::regtype AND oprright = 'uuid'::regtype");
                database.execute("INSERT INTO notes VALUES (2, '" + RunningSluice.ALICE + "')");
                stream.await(event -> event.is("warning") && event.data().contains("tier_downgraded"));
                database.execute("INSERT INTO notes VALUES (3, '" + RunningSluice.ALICE + "'), (4, '"
                        + RunningSluice.BOB + "')");
                stream.await(event -> event.is("change") && Notes.id(event) == 4);

                assertThat(Notes.ids(stream)).containsExactly(1, 2, 4);
                assertThat(sluice.figure("sluice_authz_downgrades_total{schema=\"public\",table=\"notes\"}"))
                        .isEqualTo(1);
                assertThat(sluice.figure("sluice_authz_divergences_total{kind=\"we_said_yes\",schema=\"public\","
                                + "table=\"notes\"}"))
                        .isEqualTo(1);
                assertThat(log.lines("a row was decided otherwise"))
                        .singleElement()
                        .asString()
                        .startsWith("ERROR")
                        .contains("public.notes", "policies=\"own\"", "we_said_yes")
                        .doesNotContain(RunningSluice.ALICE);
            }
        }
    }

    @Test
    void a_row_shown_for_which_postgresql_raises_leaves_the_rule_to_it() throws Exception {
        try (PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("cross_check_raises")
                .withStandardRoles()) {
            database.execute(
                    "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid)",
                    "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                    "CREATE FUNCTION raises(uuid, uuid) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS"
                            + " 'BEGIN RAISE division_by_zero; END'",
                    "CREATE PUBLICATION sluice FOR TABLE notes");
            CapturedLog log = CapturedLog.of("sluice");
            try (RunningSluice sluice = RunningSluice.on(database, Map.of("SLUICE_TIER_B_SAMPLE", "1"));
                    SseClient stream = sluice.stream(
                            sluice.token(RunningSluice.ALICE), RunningSluice.shape("mine", "notes", ""))) {
                assertThat(stream.await("ready").data()).contains("\"tier\":\"B\"");
                database.execute("UPDATE pg_operator SET oprcode = 'raises(uuid, uuid)'::regprocedure WHERE oprname ="
                        + " '=' AND oprleft = 'uuid'::regtype AND oprright = 'uuid'::regtype");
                database.execute("INSERT INTO notes VALUES (1, '" + RunningSluice.ALICE + "')");
                stream.await(event -> event.is("warning") && event.data().contains("tier_downgraded"));

                assertThat(Notes.ids(stream)).containsExactly(1);
                assertThat(sluice.figure("sluice_authz_divergences_total{kind=\"postgresql_raised\","
                                + "schema=\"public\",table=\"notes\"}"))
                        .isEqualTo(1);
                assertThat(log.lines("a row was decided otherwise"))
                        .singleElement()
                        .asString()
                        .startsWith("ERROR")
                        .contains("public.notes", "policies=\"own\"", "postgresql_raised")
                        .doesNotContain(RunningSluice.ALICE);
            }
        }
    }

    private static PostgresDatabase documents(String name) {
        PostgresDatabase database =
                PostgresCluster.of(PostgresCluster.NEWEST).createDatabase(name).withStandardRoles();
        database.execute(
                "CREATE TABLE documents (id int PRIMARY KEY, owner_id uuid NOT NULL, level numeric(6,2), meta jsonb,"
                        + " tags text[], title varchar(20))",
                "ALTER TABLE documents REPLICA IDENTITY FULL",
                "ALTER TABLE documents ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON documents FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()) OR"
                        + " level > 1.50 AND 'x' = ANY (tags) AND title LIKE 't%')",
                "CREATE PUBLICATION sluice FOR TABLE documents");
        return database;
    }

    private static void awaitAgreed(RunningSluice sluice, int least) {
        Await.until(
                least + " decisions were confirmed",
                PATIENCE,
                () -> sluice.metrics()
                                .lines()
                                .filter(line -> line.startsWith("sluice_authz_checks_total{")
                                        && line.contains("result=\"agreed\""))
                                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                                .sum()
                        >= least);
    }
}
