package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Faults that systems of this kind have had, from the log to the client. Each test has a table of its own, and the
/// tick is an hour away, so nothing here waits for it.
class PublicCasesPgTest {
    private static final int OPENED = Boolean.getBoolean("sluice.long") ? 500 : 50;

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("public_cases")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE members (team int, user_id uuid, PRIMARY KEY (team, user_id))",
                "CREATE TABLE spelled (id int PRIMARY KEY, u uuid, flag boolean)",
                "CREATE TABLE documents (id int PRIMARY KEY, team int, j json)",
                "CREATE TABLE shared (id int PRIMARY KEY, team int)",
                "CREATE TABLE revoked (id int PRIMARY KEY, owner_id uuid)",
                "CREATE TABLE closed (id int PRIMARY KEY, owner_id uuid)",
                "CREATE TABLE parted (id int, region int, owner_id uuid, PRIMARY KEY (id, region))"
                        + " PARTITION BY LIST (region)",
                "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1)",
                "CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2)",
                "CREATE TABLE narrowed (id int PRIMARY KEY, owner_id uuid, secret text,"
                        + " twice int GENERATED ALWAYS AS (id * 2) STORED)",
                "CREATE TABLE sieved (id int PRIMARY KEY, owner_id uuid, secret text)",
                "CREATE TABLE counted (id int PRIMARY KEY)",
                "CREATE TABLE retyped (id int PRIMARY KEY, owner_id uuid, n int)",
                "CREATE TABLE renamed (id int PRIMARY KEY, owner_id uuid, n int)",
                "CREATE TABLE ordered (id int PRIMARY KEY)",
                "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
                "CREATE DOMAIN moody AS mood",
                "CREATE TABLE moods (id int, m mood, d moody, owner_id uuid, PRIMARY KEY (id, m))",
                "CREATE TABLE mailed (id int PRIMARY KEY, email text NOT NULL, note text)",
                "CREATE UNIQUE INDEX mailed_email ON mailed (email)",
                "ALTER TABLE mailed REPLICA IDENTITY USING INDEX mailed_email");
        for (String table : List.of("revoked", "closed", "parted", "narrowed", "sieved", "retyped", "renamed")) {
            protect(table, "owner_id = auth.uid()");
        }
        protect("moods", "m < 'happy' OR d::mood = 'happy'");
        for (String table : List.of("documents", "shared")) {
            protect(
                    table,
                    "EXISTS (SELECT 1 FROM members m WHERE m.team = " + table + ".team AND m.user_id = auth.uid())");
        }
        database.execute(
                "CREATE PUBLICATION sluice FOR TABLE spelled, documents, shared, revoked, closed, parted, narrowed,"
                        + " sieved, counted, retyped, renamed, ordered, moods, mailed WITH (publish_via_partition_root ="
                        + " true)");
        sluice = RunningSluice.on(database, Map.of("SLUICE_CATALOG_REFRESH", "1h", "SLUICE_STREAM_QUEUE", "10000"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    private static void protect(String table, String condition) {
        database.execute(
                "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON " + table + " FOR SELECT TO authenticated USING (" + condition + ")");
    }

    @ParameterizedTest
    @CsvSource({
        "1, id=eq.001",
        "2, id=eq. 2",
        "3, u=eq.A0EEBC99-9C0B-4EF8-BB6D-000000000003",
        "4, u=eq.{a0eebc999c0b4ef8bb6d000000000004}",
        "5, flag=eq.yes",
        "6, flag=eq.T",
        "7, flag=eq.1"
    })
    void b05_another_spelling_of_a_value_finds_its_row(int id, String filter) {
        try (SseClient alice = open(ALICE, "spelled", ",\"filter\":\"" + filter + "\"")) {
            database.execute(
                    "INSERT INTO spelled VALUES (" + id + ", 'a0eebc99-9c0b-4ef8-bb6d-00000000000" + id + "', true)");

            assertThat(Notes.id(alice.await("change"))).isEqualTo(id);
        }
    }

    @Test
    void b07_json_that_jsonb_refuses_is_delivered_under_a_probed_policy_that_does_not_read_it() {
        database.execute("INSERT INTO members VALUES (7, '" + ALICE + "')");
        try (SseClient alice = open(ALICE, "documents", "")) {
            database.execute(
                    "INSERT INTO documents VALUES (1, 7, '{\"a\":\"\\u0000\"}')",
                    "INSERT INTO documents VALUES (2, 7, '{\"n\":1e200000}')",
                    "INSERT INTO documents VALUES (3, 7, '\"\\ud83d\"')",
                    "INSERT INTO documents VALUES (4, 8, '{\"a\":\"\\u0000\"}')",
                    "INSERT INTO documents VALUES (5, 7, 'null')");

            assertThat(Notes.idsUntil(alice, 5)).containsExactly(1, 2, 3, 5);
            assertThat(alice.received()).anyMatch(event -> event.data().contains("{\"a\":\"\\u0000\"}"));
            // and a snapshot says the same of each of them
            try (SseClient late = open(ALICE, "documents", ",\"initial\":\"snapshot\"")) {
                late.await("live");
                assertThat(records(late)).isEqualTo(records(alice));
            }
        }
    }

    private static List<String> records(SseClient client) {
        return client.received().stream()
                .filter(event -> event.is("change"))
                .map(event -> event.data().replaceAll("(?s).*\"record\":(.*\\})(,\"snapshot\":true)?\\}$", "$1"))
                .toList();
    }

    @Test
    void b24_a_membership_that_is_deleted_hides_the_next_row_from_its_member_alone() {
        database.execute(
                "INSERT INTO members VALUES (24, '" + ALICE + "'), (24, '" + BOB + "'), (25, '" + ALICE + "')");
        try (SseClient alice = open(ALICE, "shared", "");
                SseClient bob = open(BOB, "shared", "")) {
            database.execute("INSERT INTO shared VALUES (1, 24)");
            assertThat(Notes.id(alice.await("change"))).isEqualTo(1);

            database.execute(
                    "DELETE FROM members WHERE team = 24 AND user_id = '" + ALICE + "'",
                    "INSERT INTO shared VALUES (2, 24)",
                    "INSERT INTO shared VALUES (3, 25)");

            assertThat(Notes.idsUntil(alice, 3)).containsExactly(1, 3);
            assertThat(Notes.idsUntil(bob, 2)).containsExactly(1, 2);
        }
    }

    @Test
    void b24_a_revoked_table_ends_the_shape_and_its_next_row_is_not_sent() {
        try (SseClient alice = open(ALICE, "revoked", "")) {
            insert("revoked", 1);
            alice.await("change");

            database.execute("REVOKE SELECT ON revoked FROM authenticated");
            insert("revoked", 2);

            assertThat(alice.await("error").data()).contains("column_not_granted");
            assertThat(Notes.ids(alice)).containsExactly(1);
        }
    }

    @Test
    void b24_a_policy_altered_to_false_shows_no_further_row() {
        try (SseClient alice =
                sluice.stream(sluice.token(ALICE), shape("s", "closed", "") + "," + shape("fence", "counted", ""))) {
            alice.await("ready");
            insert("closed", 1);
            alice.await("change");

            database.execute("ALTER POLICY own ON closed USING (false)");
            insert("closed", 2);
            database.execute("INSERT INTO counted VALUES (1001)");

            assertThat(Notes.idsUntil(alice, 1001)).containsExactly(1, 1001);
        }
    }

    @Test
    void b25_labels_that_are_added_and_renamed_are_in_their_order_and_end_no_filter_on_others() {
        String shapes = shape("all", "moods", "") + "," + shape("below", "moods", ",\"filter\":\"m=lt.happy\"") + ","
                + shape("from", "moods", ",\"filter\":\"m=gte.ok\"") + ","
                + shape("listed", "moods", ",\"filter\":\"d=in.(ok,happy)\"") + ","
                + shape("sad", "moods", ",\"filter\":\"m=eq.sad\"") + ","
                + shape("none", "moods", ",\"filter\":\"m=eq.nope\"") + ","
                + shape("fence", "counted", ",\"filter\":\"id=gte.2500\"");
        try (SseClient alice = sluice.stream(sluice.token(ALICE), shapes)) {
            SseEvent ready = alice.await("ready");
            assertThat(ready.json().at("/subscriptions/5/error/code").asText()).isEqualTo("invalid_filter");
            assertThat(ready.data().split("\"ok\":true", -1)).hasSize(7);

            database.execute("ALTER TYPE mood ADD VALUE 'meh' BEFORE 'ok'");
            awaitGranted("moods", ",\"filter\":\"m=eq.meh\"", "\"ok\":true");
            database.execute(
                    "INSERT INTO moods VALUES (1, 'meh', 'ok')",
                    "INSERT INTO moods VALUES (2, 'happy', 'meh')",
                    "INSERT INTO moods VALUES (3, 'happy', 'happy')",
                    "INSERT INTO counted VALUES (2501)");
            awaitLabelled(alice, "fence", 2501);
            assertThat(labelled(alice, "all")).containsExactly(1, 3);
            assertThat(labelled(alice, "below")).containsExactly(1);
            assertThat(labelled(alice, "from")).containsExactly(3);
            assertThat(labelled(alice, "listed")).containsExactly(1, 3);

            assertThat(alice.received()).noneMatch(event -> event.data().contains("schema_changed"));

            database.execute("ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'");
            assertThat(alice.await("error").data()).contains("\"sub\":\"sad\"", "schema_changed");
            database.execute(
                    "INSERT INTO moods VALUES (4, 'blue', 'blue')",
                    "INSERT INTO moods VALUES (5, 'ok', 'happy')",
                    "INSERT INTO counted VALUES (2502)");
            awaitLabelled(alice, "fence", 2502);
            assertThat(labelled(alice, "all")).containsExactly(1, 3, 4, 5);
            assertThat(labelled(alice, "below")).containsExactly(1, 4, 5);
            assertThat(labelled(alice, "from")).containsExactly(3, 5);
            assertThat(labelled(alice, "listed")).containsExactly(1, 3, 5);
            assertThat(alice.received())
                    .anyMatch(event -> event.data().contains("\"id\":4,\"m\":\"blue\",\"d\":\"blue\""))
                    .noneMatch(event -> event.data().contains("changes_withheld"));
            // rows that were sent with the label have another text now, and no change says so
            assertThat(alice.received().stream()
                            .filter(event -> event.is("warning") && event.data().contains("schema_changed"))
                            .map(event -> event.json().get("sub").asText()))
                    .containsExactlyInAnyOrder("all", "below", "from", "listed");

            try (SseClient late = open(ALICE, "moods", ",\"initial\":\"snapshot\"")) {
                late.await("live");
                assertThat(Notes.ids(late)).containsExactly(1, 3, 4, 5);
            }

            // a label that takes another's name makes the filter mean other rows
            database.execute("BEGIN; ALTER TYPE mood RENAME VALUE 'happy' TO 'glad';"
                    + " ALTER TYPE mood RENAME VALUE 'meh' TO 'happy'; COMMIT");
            assertThat(alice.await(event -> event.is("error") && event.data().contains("\"below\""))
                            .data())
                    .contains("schema_changed");
        }
    }

    /// Waits until the server has read what was done, as far as it shows in what it says of a shape.
    private static void awaitGranted(String table, String more, String said) {
        Await.until("the table is read anew", () -> {
            try (SseClient alice = sluice.stream(sluice.token(ALICE), shape("s", table, more))) {
                return alice.await("ready").data().contains(said);
            }
        });
    }

    private static void awaitLabelled(SseClient client, String label, int id) {
        client.await(
                event -> event.is("change") && event.json().get("sub").asText().equals(label) && Notes.id(event) == id);
    }

    private static List<Integer> labelled(SseClient client, String label) {
        return client.received().stream()
                .filter(event ->
                        event.is("change") && event.json().get("sub").asText().equals(label))
                .map(Notes::id)
                .toList();
    }

    @Test
    void b43_a_key_that_old_rows_do_not_carry_is_told_and_the_remedy_makes_them_carry_it() {
        database.execute("INSERT INTO mailed VALUES (1, 'a@example', 'x'), (2, 'b@example', 'y')");
        String remedy;
        try (SseClient alice = open(ALICE, "mailed", "")) {
            SseEvent warning = alice.await(event -> event.data().contains("lacks id of the key"));
            assertThat(warning.data()).contains("replica_identity_insufficient");
            remedy = warning.json().get("remedy").asText();
            database.execute("DELETE FROM mailed WHERE id = 1");
            SseEvent gone = alice.await(event -> event.data().contains("\"op\":\"DELETE\""));
            assertThat(gone.json().get("old").toString()).isEqualTo("{\"email\":\"a@example\"}");
        }
        try (SseClient alice = open(ALICE, "mailed", ",\"ops\":[\"INSERT\"]")) {
            assertThat(alice.received().getFirst().data()).doesNotContain("replica_identity");
        }
        database.execute(remedy);
        Await.until("the wider identity is known", () -> {
            try (SseClient alice = open(ALICE, "mailed", "")) {
                return !alice.received().getFirst().data().contains("replica_identity");
            }
        });
        try (SseClient alice = open(ALICE, "mailed", "")) {
            assertThat(alice.received().getFirst().data()).doesNotContain("replica_identity");
            database.execute("UPDATE mailed SET id = 3 WHERE id = 2", "DELETE FROM mailed WHERE id = 3");
            assertThat(alice.await("change").json().get("old").get("id").asInt())
                    .isEqualTo(2);
            assertThat(alice.await("change").json().get("old").get("id").asInt())
                    .isEqualTo(3);

            database.execute("ALTER TABLE mailed REPLICA IDENTITY USING INDEX mailed_email");
            alice.await(event -> event.is("warning") && event.data().contains("lacks id of the key"));
        }
    }

    @Test
    void b28_a_row_that_moves_to_another_partition_of_its_root_arrives_with_its_new_key_and_reaches_nobody_else() {
        try (SseClient alice = open(ALICE, "parted", "");
                SseClient bob = open(BOB, "parted", "")) {
            database.execute(
                    "INSERT INTO parted VALUES (1, 1, '" + ALICE + "')",
                    "UPDATE parted SET region = 2 WHERE id = 1",
                    "INSERT INTO parted VALUES (2, 1, '" + BOB + "')");

            SseEvent moved =
                    alice.await(event -> event.is("change") && event.data().contains("\"region\":2"));
            assertThat(moved.data()).contains("\"table\":\"parted\"", ALICE);
            bob.await("change");
            assertThat(Notes.ids(bob)).containsExactly(2);
        }
    }

    @Test
    void b30_a_column_that_leaves_the_publication_ends_the_shape_before_its_next_row() {
        try (SseClient alice = open(ALICE, "narrowed", "")) {
            database.execute("INSERT INTO narrowed VALUES (1, '" + ALICE + "', 'seen')");
            assertThat(alice.await("change").data()).contains("seen").doesNotContain("twice");
            try (SseClient late = open(ALICE, "narrowed", ",\"initial\":\"snapshot\"")) {
                late.await("live");
                assertThat(records(late)).isEqualTo(records(alice));
            }

            database.execute(
                    "ALTER PUBLICATION sluice DROP TABLE narrowed;"
                            + "ALTER PUBLICATION sluice ADD TABLE narrowed (id, owner_id)",
                    "INSERT INTO narrowed VALUES (2, '" + ALICE + "', 'hidden')");

            assertThat(alice.await("error").data()).contains("schema_changed");
            assertThat(alice.received()).noneMatch(event -> event.data().contains("hidden"));
        }
        // rows that are read have the columns of rows that come from the log, whatever is asked for
        String named = ",\"columns\":[\"id\",\"secret\",\"twice\"],\"initial\":\"snapshot\"";
        try (SseClient alice = open(ALICE, "narrowed", named)) {
            assertThat(alice.await("warning").data()).contains("columns_not_published", "secret, twice");
            alice.await("live");
            database.execute("INSERT INTO narrowed VALUES (3, '" + ALICE + "', 'hidden')");
            assertThat(Notes.idsUntil(alice, 3)).containsExactly(1, 2, 3);
            assertThat(records(alice)).containsExactly("{\"id\":1}", "{\"id\":2}", "{\"id\":3}");
        }
    }

    @Test
    void b30_a_row_filter_added_under_an_open_shape_ends_it() {
        try (SseClient alice = open(ALICE, "sieved", "")) {
            insert("sieved (id, owner_id)", 1);
            alice.await("change");

            database.execute("ALTER PUBLICATION sluice DROP TABLE sieved;"
                    + "ALTER PUBLICATION sluice ADD TABLE sieved WHERE (id < 100)");
            insert("sieved (id, owner_id)", 2);

            assertThat(alice.await("error").data()).contains("relation_unpublished");
            assertThat(Notes.ids(alice)).containsExactly(1);
        }
    }

    @Test
    void b35_a_row_written_at_the_first_byte_of_ready_arrives_every_time() {
        for (int id = 1; id <= OPENED; id++) {
            try (SseClient alice = open(ALICE, "counted", "")) {
                database.execute("INSERT INTO counted VALUES (" + id + ")");

                assertThat(Notes.id(alice.await("change"))).isEqualTo(id);
            }
        }
    }

    @Test
    void b36_a_column_that_takes_another_type_ends_the_shape_before_its_next_row() {
        try (SseClient alice = open(ALICE, "retyped", "")) {
            database.execute("INSERT INTO retyped VALUES (1, '" + ALICE + "', 1)");
            assertThat(alice.await("change").data()).contains("\"n\":1");

            database.execute(
                    "ALTER TABLE retyped ALTER n TYPE text USING 'n' || n",
                    "INSERT INTO retyped VALUES (2, '" + ALICE + "', 'n2')");

            assertThat(alice.await("error").data()).contains("schema_changed");
            assertThat(Notes.ids(alice)).containsExactly(1);
        }
    }

    @Test
    void b36_a_renamed_key_and_policy_column_end_the_shape_and_the_policy_follows_its_column() {
        try (SseClient alice = open(ALICE, "renamed", "");
                SseClient bob = open(BOB, "renamed", "")) {
            database.execute(
                    "ALTER TABLE renamed RENAME COLUMN owner_id TO belongs_to",
                    "ALTER TABLE renamed RENAME COLUMN id TO \"Id\"",
                    "INSERT INTO renamed VALUES (1, '" + ALICE + "', 1)");

            assertThat(alice.await("error").data()).contains("schema_changed");
            assertThat(bob.await("error").data()).contains("schema_changed");
            assertThat(bob.received()).noneMatch(event -> event.is("change"));
        }
        try (SseClient alice = open(ALICE, "renamed", "");
                SseClient bob = open(BOB, "renamed", "")) {
            database.execute(
                    "INSERT INTO renamed VALUES (2, '" + ALICE + "', 2)",
                    "INSERT INTO renamed VALUES (3, '" + BOB + "', 3)");

            assertThat(alice.await("change").data()).contains("\"Id\":2,\"belongs_to\":\"" + ALICE);
            assertThat(bob.await("change").data()).contains("\"Id\":3,\"belongs_to\":\"" + BOB);
        }
    }

    @Test
    void b37_rows_come_in_the_order_of_commits_and_every_row_of_a_copy_comes() throws SQLException {
        try (SseClient alice = open(ALICE, "ordered", "");
                Connection first = database.connect();
                Statement statement = first.createStatement()) {
            first.setAutoCommit(false);
            statement.execute("INSERT INTO ordered VALUES (1)");
            database.execute("INSERT INTO ordered VALUES (2)");
            statement.execute("INSERT INTO ordered VALUES (3)");
            first.commit();
            database.execute("COPY ordered FROM PROGRAM 'seq 100 1999'");

            List<Integer> ids = Notes.idsUntil(alice, 1999);
            assertThat(ids.subList(0, 3)).containsExactly(2, 1, 3);
            assertThat(ids.subList(3, ids.size()))
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(100, 1999).boxed().toList());
        }
    }

    private static SseClient open(String subject, String table, String more) {
        SseClient client = sluice.stream(sluice.token(subject), shape("s", table, more));
        assertThat(client.await("ready").data()).contains("\"ok\":true");
        return client;
    }

    private static void insert(String table, int id) {
        database.execute("INSERT INTO " + table + " VALUES (" + id + ", '" + ALICE + "')");
    }
}
