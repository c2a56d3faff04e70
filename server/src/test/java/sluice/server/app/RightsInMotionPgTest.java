package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Policies, grants and roles that change under open streams. The tick is an hour away, so nothing here waits for it.
class RightsInMotionPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("rights_in_motion")
                .withStandardRoles();
        for (String table :
                new String[] {"dropped", "restricted", "granted", "reviewed", "untouched", "widened", "same"}) {
            database.execute(
                    "CREATE TABLE " + table + " (id int PRIMARY KEY, owner_id uuid NOT NULL, secret text)",
                    "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON " + table + " FOR SELECT TO authenticated USING (owner_id = auth.uid())");
        }
        for (String table : new String[] {"members", "friends"}) {
            database.execute(
                    "CREATE TABLE " + table + " (item int, who uuid, other uuid)",
                    "CREATE TABLE of_" + table + " (id int PRIMARY KEY, owner_id uuid, secret text)",
                    "ALTER TABLE of_" + table + " ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY shared ON of_" + table + " FOR SELECT TO authenticated USING (EXISTS (SELECT FROM "
                            + table + " m WHERE m.item = id AND m.who = auth.uid()))");
        }
        database.execute(
                "CREATE TABLE relatives (item int)",
                "CREATE TABLE of_relatives (id int PRIMARY KEY, owner_id uuid, secret text)",
                "ALTER TABLE of_relatives ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY longer ON of_relatives FOR SELECT TO authenticated USING ((id <> 2 OR"
                        + " array_length(string_to_array(secret, ','), 1) = 9)"
                        + " AND EXISTS (SELECT FROM relatives m WHERE m.item = id))",
                "CREATE TABLE measured (id int, owner_id uuid NOT NULL, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
                "CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (1000)",
                "ALTER TABLE measured ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON measured FOR SELECT TO authenticated USING (owner_id = auth.uid())",
                "CREATE PUBLICATION sluice FOR TABLE dropped, restricted, granted, reviewed, untouched, widened, same,"
                        + " measured, of_members, of_friends, of_relatives WITH (publish_via_partition_root = true)");
        sluice = RunningSluice.on(database, Map.of("SLUICE_CATALOG_REFRESH", "1h"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void a_dropped_policy_ends_the_shape_at_the_next_change_and_the_change_is_not_sent() {
        try (SseClient alice = open(ALICE, "dropped")) {
            insert("dropped", 1, ALICE);
            assertThat(alice.await("change").data()).contains("\"id\":1");

            database.execute("DROP POLICY own ON dropped", row("dropped", 2, ALICE));

            assertThat(alice.await("error").data()).contains("shape_not_authorized");
            assertThat(alice.received()).noneMatch(event -> event.data().contains("\"id\":2"));
        }
    }

    @Test
    void a_new_restrictive_policy_ends_the_shape_and_hides_the_next_row_from_both() throws Exception {
        try (SseClient alice = open(ALICE, "restricted")) {
            insert("restricted", 1, ALICE);
            alice.await("change");

            database.execute(
                    "CREATE POLICY small ON restricted AS RESTRICTIVE FOR SELECT TO authenticated USING (id < 100)",
                    row("restricted", 200, ALICE));
            sluice.subscribeAgain(alice, sluice.token(ALICE), "s", "restricted");
            assertThat(Notes.ids(alice)).as("row 1 is read again").containsExactly(1, 1);
            insertUntilShown(alice, "restricted", ALICE, 2);
            insert("restricted", 201, ALICE);
            insert("restricted", 99, ALICE);

            alice.await(event -> event.is("change") && Notes.id(event) == 99);
            assertThat(Notes.ids(alice)).doesNotContain(200, 201);
        }
    }

    @Test
    void what_shows_the_same_rows_leaves_the_shape_open() {
        try (SseClient alice = open(ALICE, "same")) {
            insert("same", 1, ALICE);
            alice.await("change");

            database.execute(
                    "ALTER POLICY own ON same USING (owner_id = auth.uid())",
                    "ALTER POLICY own ON same RENAME TO zz",
                    "CREATE POLICY of_another ON same FOR SELECT TO service_role USING (false)",
                    "CREATE POLICY writes ON same FOR INSERT TO authenticated WITH CHECK (false)",
                    "CREATE INDEX ON same (secret)",
                    "GRANT SELECT ON same TO anon",
                    row("same", 2, BOB));
            sluice.awaitPolls();
            insert("same", 3, BOB);
            insert("same", 4, ALICE);

            assertThat(Notes.idsUntil(alice, 4)).containsExactly(1, 4);
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }

    @Test
    void a_revoked_column_disappears_from_the_next_event() {
        try (SseClient alice = open(ALICE, "granted")) {
            insert("granted", 1, ALICE);
            assertThat(alice.await("change").data()).contains("\"secret\"");

            database.execute(
                    "REVOKE SELECT ON granted FROM authenticated",
                    "GRANT SELECT (id, owner_id) ON granted TO authenticated");
            insertUntilShown(alice, "granted", ALICE, 2);

            assertThat(alice.received())
                    .filteredOn(event -> event.is("change") && Notes.id(event) > 1)
                    .isNotEmpty()
                    .noneMatch(event -> event.data().contains("\"secret\""));
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }

    @Test
    void a_column_added_before_the_last_rights_poll_withholds_nothing_and_waits_for_the_next_subscribing() {
        try (SseClient alice = open(ALICE, "widened")) {
            insert("widened", 1, ALICE);
            alice.await("change");

            database.execute("ALTER TABLE widened ADD COLUMN more text DEFAULT 'new'");
            sluice.awaitPolls();
            database.execute(row("widened", 2, ALICE), row("widened", 3, ALICE));

            assertThat(alice.await("change").data()).contains("\"id\":2").doesNotContain("more");
            assertThat(alice.await("change").data()).contains("\"id\":3").doesNotContain("more");
        }
    }

    @Test
    void a_function_that_changes_its_answer_is_asked_again_within_the_rights_poll() throws Exception {
        database.execute(
                "CREATE FUNCTION public.tenant() RETURNS uuid LANGUAGE sql STABLE AS"
                        + " $$ SELECT (current_setting('request.jwt.claims', true)::jsonb ->> 'sub')::uuid $$",
                "CREATE POLICY tenant ON reviewed FOR SELECT TO authenticated USING (owner_id = public.tenant())",
                "DROP POLICY own ON reviewed");
        sluice.awaitPolls();
        try (SseClient alice = open(ALICE, "reviewed")) {
            insert("reviewed", 1, ALICE);
            assertThat(alice.await("change").data()).contains("\"id\":1");

            database.execute("CREATE OR REPLACE FUNCTION public.tenant() RETURNS uuid LANGUAGE sql STABLE AS"
                    + " $$ SELECT '" + BOB + "'::uuid $$");
            sluice.subscribeAgain(alice, sluice.token(ALICE), "s", "reviewed");
            assertThat(Notes.ids(alice)).as("nothing is bob's yet").containsExactly(1);
            insertUntilShown(alice, "reviewed", BOB, 100);
            insert("reviewed", 2, ALICE);
            insert("reviewed", 3, BOB);

            alice.await(event -> event.is("change") && event.data().contains("\"id\":3,"));
            assertThat(alice.received()).noneMatch(event -> event.data().contains("\"id\":2,"));
        }
    }

    @Test
    void a_policy_of_a_partition_root_acts_at_its_next_commit() {
        try (SseClient alice = open(ALICE, "measured")) {
            database.execute("INSERT INTO measured VALUES (1, '" + ALICE + "')");
            assertThat(alice.await("change").data()).contains("\"id\":1");

            database.execute("DROP POLICY own ON measured", "INSERT INTO measured VALUES (2, '" + ALICE + "')");

            assertThat(alice.await("error").data()).contains("shape_not_authorized");
            assertThat(alice.received()).noneMatch(event -> event.data().contains("\"id\":2"));
        }
    }

    /// The policy goes on reading the table it was made over, whatever that is called by now.
    @Test
    void a_table_that_takes_the_name_of_one_a_policy_reads_decides_nothing() {
        database.execute("INSERT INTO members VALUES (1, '" + ALICE + "'), (3, '" + ALICE + "')");
        try (SseClient alice = open(ALICE, "of_members")) {
            insert("of_members", 1, BOB);
            assertThat(alice.await("change").data()).contains("\"id\":1,");

            database.execute(
                    "ALTER TABLE members RENAME TO members_of_old",
                    "CREATE TABLE members (item int, who uuid)",
                    "INSERT INTO members VALUES (2, '" + ALICE + "')");
            isHiddenTheSecond(alice, "of_members");
        }
    }

    @Test
    void columns_that_swap_their_names_in_a_table_that_a_policy_reads_are_told_apart() {
        database.execute("INSERT INTO friends VALUES (1, '" + ALICE + "', '" + BOB + "')," + " (2, '" + BOB + "', '"
                + ALICE + "'), (3, '" + ALICE + "', '" + BOB + "')");
        try (SseClient alice = open(ALICE, "of_friends")) {
            insert("of_friends", 1, BOB);
            assertThat(alice.await("change").data()).contains("\"id\":1,");

            database.execute(
                    "ALTER TABLE friends RENAME who TO third",
                    "ALTER TABLE friends RENAME other TO who",
                    "ALTER TABLE friends RENAME third TO other");
            isHiddenTheSecond(alice, "of_friends");
        }
    }

    /// PostgreSQL prints the server's own function without its schema, which a probe would read as the user's.
    @Test
    void a_function_that_a_user_makes_beside_the_servers_own_is_not_asked_by_an_open_shape() {
        database.execute("INSERT INTO relatives VALUES (1), (2), (3)");
        try (SseClient alice = open(ALICE, "of_relatives")) {
            insert("of_relatives", 1, BOB);
            assertThat(alice.await("change").data()).contains("\"id\":1,");

            database.execute("CREATE FUNCTION public.array_length(text[], int) RETURNS int LANGUAGE sql IMMUTABLE"
                    + " AS 'SELECT 9'");
            isHiddenTheSecond(alice, "of_relatives");
        } finally {
            database.execute("DROP FUNCTION public.array_length(text[], int)");
        }
    }

    /// Of two rows committed after the rights were polled: the policy hides the second row and shows the third.
    private static void isHiddenTheSecond(SseClient alice, String table) {
        sluice.awaitPolls();
        insert(table, 2, BOB);
        insert(table, 3, BOB);

        alice.await(event -> (event.is("change") && Notes.id(event) == 3) || event.is("error"));
        assertThat(alice.received())
                .noneMatch(event -> event.is("change") && event.data().contains("\"id\":2,"));
    }

    /// A role's new attribute is seen by the poll alone: no row of the table was touched meanwhile.
    @Test
    void a_bypass_that_is_taken_away_ends_the_shape_within_the_rights_poll() {
        database.execute("CREATE ROLE " + "auditor_rim" + " NOLOGIN BYPASSRLS");
        try {
            // the role is not among the allowed ones: it may not even open
            SseClient refused = sluice.stream(sluice.token(ALICE, "auditor_rim"), shape("s", "untouched", ""));
            assertThat(refused.status()).isEqualTo(401);
        } finally {
            database.execute("DROP ROLE auditor_rim");
        }
        try (SseClient service = sluice.stream(sluice.token(ALICE, "service_role"), shape("s", "untouched", ""))) {
            assertThat(service.await("ready").data()).contains("\"tier\":\"A\"", "bypasses row-level security");
            database.execute("ALTER ROLE service_role NOBYPASSRLS");

            assertThat(service.await("error").data()).contains("shape_not_authorized");
        } finally {
            database.execute("ALTER ROLE service_role BYPASSRLS");
            awaitBypass();
        }
    }

    private static SseClient open(String subject, String table) {
        SseClient client = sluice.stream(sluice.token(subject), shape("s", table, ""));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static void insert(String table, int id, String owner) {
        database.execute(row(table, id, owner));
    }

    private static String row(String table, int id, String owner) {
        return "INSERT INTO " + table + " (id, owner_id, secret) VALUES (" + id + ", '" + owner + "', 'x')";
    }

    /// A right that widens acts on commits made once its catalog was read, so of these rows some may be withheld.
    private static void insertUntilShown(SseClient stream, String table, String owner, int firstId) {
        for (int id = firstId; id < firstId + 60; id++) {
            insert(table, id, owner);
            try {
                stream.await(event -> event.is("change") && event.data().contains(owner), Duration.ofMillis(500));
                return;
            } catch (AssertionError _) {
                // the next row
            }
        }
        throw new AssertionError("none of 60 rows that may be read now was shown");
    }

    /// The roles moved back: the next test's rights must not move twice at once.
    private static void awaitBypass() {
        Await.until("the role bypasses again", () -> {
            try (SseClient service = sluice.stream(sluice.token(ALICE, "service_role"), shape("s", "untouched", ""))) {
                return service.await("ready").data().contains("\"tier\":\"A\"");
            }
        });
    }
}
