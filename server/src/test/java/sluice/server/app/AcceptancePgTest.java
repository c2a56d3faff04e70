package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// What users of the reference implementation rely on, over the tables of its own end-to-end suite: one stream of
/// five shapes and a channel, each by another kind of rule.
class AcceptancePgTest {
    private static final String CLAIMS = "{\"sub\":\"" + ALICE + "\",\"role\":\"authenticated\"}";
    private static final String SHAPES = String.join(
            ",",
            shape("docs", "documents", ",\"transitions\":true,\"filter\":\"owner_id=eq." + ALICE + "\""),
            shape("posts", "posts", ""),
            shape("invoices", "invoices", ",\"filter\":\"team_id=eq.1\""),
            shape("metrics", "metrics", ""),
            shape("articles", "articles", ",\"filter\":\"owner_id=eq." + ALICE + "\""),
            "{\"sub\":\"room\",\"channel\":\"room:smoke\",\"presence\":true}");

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("acceptance")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE documents (id int NOT NULL, owner_id uuid NOT NULL, title text, body text)",
                "CREATE UNIQUE INDEX documents_identity ON documents (owner_id, id)",
                "ALTER TABLE documents REPLICA IDENTITY USING INDEX documents_identity",
                "CREATE TABLE posts (id int PRIMARY KEY, owner_id uuid, visibility text, title text, score int)",
                "ALTER TABLE posts REPLICA IDENTITY FULL",
                "CREATE TABLE memberships (user_id uuid, team_id int, PRIMARY KEY (user_id, team_id))",
                "CREATE TABLE invoices (id int NOT NULL, team_id int NOT NULL, amount int, note text)",
                "CREATE UNIQUE INDEX invoices_identity ON invoices (team_id, id)",
                "ALTER TABLE invoices REPLICA IDENTITY USING INDEX invoices_identity",
                "CREATE TABLE metrics (id int PRIMARY KEY, value int)",
                "CREATE TABLE order_lines (document int, line int, amount int,"
                        + " twice int GENERATED ALWAYS AS (amount * 2) STORED, PRIMARY KEY (document, line))",
                "CREATE TABLE articles (id int PRIMARY KEY, owner_id uuid, views int, body text)",
                "ALTER TABLE articles ALTER body SET STORAGE EXTERNAL");
        policy("documents", "(owner_id = (SELECT auth.uid()))");
        policy("posts", "(visibility = 'public' OR owner_id = auth.uid())");
        policy("memberships", "(user_id = auth.uid())");
        policy(
                "invoices",
                "(EXISTS (SELECT 1 FROM memberships m WHERE m.team_id = invoices.team_id"
                        + " AND m.user_id = auth.uid()))");
        policy("articles", "(owner_id = auth.uid())");
        database.execute(
                "CREATE POLICY positive ON invoices AS RESTRICTIVE FOR SELECT TO authenticated USING (amount > 0)",
                "INSERT INTO memberships VALUES ('" + ALICE + "', 1)",
                "INSERT INTO articles VALUES (1, '" + ALICE + "', 0, repeat('x', 200000))",
                "CREATE PUBLICATION sluice FOR TABLE documents, posts, memberships, invoices, metrics, articles,"
                        + " order_lines WITH (publish_generated_columns = stored)");
        WireTypes.createIn(database);
        sluice = RunningSluice.on(
                database, Map.of("SLUICE_CHANNELS", "room:public,notify:owner", "SLUICE_STREAM_QUEUE", "10000"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    private static void policy(String table, String condition) {
        database.execute(
                "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY seen ON " + table + " FOR SELECT TO authenticated USING " + condition);
    }

    @Test
    void each_shape_has_the_tier_of_its_rule_and_the_weak_identity_is_told_with_its_remedy() {
        try (SseClient alice = sluice.stream(sluice.token(ALICE), SHAPES)) {
            JsonNode results = alice.await("ready").json().get("subscriptions");
            List<String> tiers = new ArrayList<>();
            for (JsonNode result : results) {
                assertThat(result.get("ok").asBoolean()).isTrue();
                tiers.add(result.get("sub").asText() + " " + result.path("tier").asText("none"));
            }
            assertThat(tiers)
                    .containsExactly("docs A", "posts B", "invoices C", "metrics A", "articles A", "room none");

            JsonNode warning = results.get(4).get("warnings").get(0);
            assertThat(warning.get("code").asText()).isEqualTo("replica_identity_insufficient");
            assertThat(warning.get("remedy").asText()).contains("REPLICA IDENTITY");
            assertThat(results.get(1).get("warnings").toString()).contains("replica_identity_full_with_toast");
        }
    }

    @Test
    void of_documents_only_her_own_arrive_and_an_update_that_keeps_the_key_is_no_transition() {
        try (SseClient alice = open()) {
            database.execute(
                    "INSERT INTO documents VALUES (1, '" + BOB + "', 'his', 'bob-private')",
                    "INSERT INTO documents VALUES (2, '" + ALICE + "', 'hers', '')",
                    "UPDATE documents SET title = 'still' WHERE id IN (1, 2)");

            SseEvent updated = change(alice, "docs", "UPDATE");
            assertThat(updated.json().at("/record/title").asText()).isEqualTo("still");
            assertThat(updated.json().has("transition")).isFalse();
            assertThat(changes(alice)).containsExactly("docs INSERT 2", "docs UPDATE 2");
            assertThat(alice.received()).noneMatch(event -> event.data().contains("bob-private"));

            // what came is what SELECT shows, and there is more than that
            String count = "SELECT count(*) FROM documents";
            assertThat(database.asRole("authenticated", CLAIMS).rows(count).getFirst())
                    .containsExactly("1");
            assertThat(Integer.parseInt(String.valueOf(database.value(count)))).isGreaterThan(1);
        }
    }

    @Test
    void of_posts_a_foreign_private_one_never_arrives_and_a_delete_shows_the_whole_old_row_to_whoever_saw_it() {
        try (SseClient alice = open()) {
            database.execute(
                    "INSERT INTO posts VALUES (1, '" + ALICE + "', 'private', 'hers', 5)",
                    "INSERT INTO posts VALUES (2, '" + BOB + "', 'public', 'for all', 6)",
                    "INSERT INTO posts VALUES (3, '" + BOB + "', 'private', 'bob-private', 7)",
                    "DELETE FROM posts WHERE id = 3",
                    "DELETE FROM posts WHERE id = 1");

            SseEvent deleted = change(alice, "posts", "DELETE");
            assertThat(deleted.json().get("old").toString())
                    .isEqualTo("{\"id\":1,\"owner_id\":\"" + ALICE
                            + "\",\"visibility\":\"private\",\"title\":\"hers\",\"score\":5}");
            assertThat(changes(alice)).containsExactly("posts INSERT 1", "posts INSERT 2", "posts DELETE 1");
            assertThat(alice.received()).noneMatch(event -> event.data().contains("bob-private"));
        }
    }

    @Test
    void of_invoices_a_foreign_team_and_what_the_restrictive_policy_hides_never_arrive() {
        try (SseClient alice = open();
                SseClient bob = sluice.stream(
                        sluice.token(BOB), shape("all", "invoices", "") + "," + shape("fence", "metrics", ""))) {
            bob.await("ready");
            database.execute(
                    "INSERT INTO invoices VALUES (1, 1, 100, 'due')",
                    "INSERT INTO invoices VALUES (2, 1, 0, 'nothing')",
                    "INSERT INTO invoices VALUES (3, 9999, 100, 'other team')",
                    "INSERT INTO invoices VALUES (4, 1, 7, 'due')",
                    "INSERT INTO metrics VALUES (4, 1)");

            alice.await(event ->
                    event.is("change") && Notes.id(event) == 4 && label(event).equals("metrics"));
            assertThat(changes(alice)).containsExactly("invoices INSERT 1", "invoices INSERT 4", "metrics INSERT 4");
            bob.await("change");
            assertThat(changes(bob)).containsExactly("fence INSERT 4");
        }
    }

    @Test
    void a_large_value_that_did_not_change_is_named_and_not_sent() {
        try (SseClient alice = open()) {
            database.execute("UPDATE articles SET views = views + 1");

            JsonNode change = change(alice, "articles", "UPDATE").json();
            assertThat(change.get("unchanged").toString()).isEqualTo("[\"body\"]");
            assertThat(change.get("record").has("body")).isFalse();
            assertThat(change.at("/record/views").asInt()).isPositive();
        }
    }

    @Test
    void every_way_to_write_a_row_arrives_exactly_once() {
        try (SseClient alice = open()) {
            database.execute(
                    "INSERT INTO metrics VALUES (101, 1), (102, 1)",
                    "INSERT INTO metrics VALUES (101, 2) ON CONFLICT (id) DO UPDATE SET value = excluded.value",
                    "MERGE INTO metrics m USING (VALUES (102, 3), (103, 3)) s (id, value) ON m.id = s.id"
                            + " WHEN MATCHED THEN UPDATE SET value = s.value"
                            + " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.value)",
                    "COPY metrics FROM PROGRAM 'echo 104,4' (FORMAT csv)",
                    "WITH gone AS (DELETE FROM metrics WHERE id = 104 RETURNING id)"
                            + " INSERT INTO metrics SELECT 105, id FROM gone",
                    "BEGIN",
                    "INSERT INTO metrics VALUES (999, 1)",
                    "ROLLBACK",
                    "INSERT INTO metrics VALUES (106, 1)");

            alice.await(
                    event -> event.is("change") && event.json().at("/record/id").asInt() == 106);
            assertThat(changes(alice))
                    .containsExactlyInAnyOrder(
                            "metrics INSERT 101",
                            "metrics INSERT 102",
                            "metrics UPDATE 101",
                            "metrics UPDATE 102",
                            "metrics INSERT 103",
                            "metrics INSERT 104",
                            "metrics DELETE 104",
                            "metrics INSERT 105",
                            "metrics INSERT 106");
        }
    }

    @Test
    void a_generated_column_and_a_key_of_two_columns_arrive() {
        try (SseClient alice = stream(shape("lines", "order_lines", ""))) {
            database.execute(
                    "INSERT INTO order_lines (document, line, amount) VALUES (1, 1, 5), (1, 2, 6)",
                    "UPDATE order_lines SET amount = 7 WHERE document = 1 AND line = 2",
                    "DELETE FROM order_lines WHERE document = 1 AND line = 1");
            alice.await(event ->
                    event.is("change") && event.json().get("op").asText().equals("DELETE"));
            assertThat(changeEvents(alice))
                    .extracting(event -> event.json()
                            .path(event.json().has("record") ? "record" : "old")
                            .toString())
                    .containsExactly(
                            "{\"document\":1,\"line\":1,\"amount\":5,\"twice\":10}",
                            "{\"document\":1,\"line\":2,\"amount\":6,\"twice\":12}",
                            "{\"document\":1,\"line\":2,\"amount\":7,\"twice\":14}",
                            "{\"document\":1,\"line\":1}");
        }
    }

    @Test
    void rows_that_ten_sessions_write_at_once_all_arrive() throws Exception {
        try (SseClient alice = stream(shape("m", "metrics", ""));
                ExecutorService sessions = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> writes = new ArrayList<>();
            for (int id = 2001; id <= 2010; id++) {
                String insert = "INSERT INTO metrics VALUES (" + id + ", 0)";
                writes.add(sessions.submit(() -> {
                    try (Connection connection = database.connect();
                            Statement statement = connection.createStatement()) {
                        return statement.executeUpdate(insert);
                    }
                }));
            }
            for (Future<?> write : writes) {
                write.get(30, TimeUnit.SECONDS);
            }
            database.execute("INSERT INTO metrics VALUES (2011, 0)");
            assertThat(Notes.idsUntil(alice, 2011))
                    .containsExactlyInAnyOrder(2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2009, 2010, 2011);
        }
    }

    @Test
    void a_message_of_the_database_arrives_when_its_transaction_commits_and_never_otherwise() {
        try (SseClient alice = open()) {
            database.execute(
                    "BEGIN",
                    "SELECT pg_logical_emit_message(true, 'sluice:room:smoke', '{\"event\":\"never\"}')",
                    "ROLLBACK",
                    "SELECT pg_logical_emit_message(true, 'sluice:room:smoke', '{\"event\":\"paid\"}')");

            JsonNode heard = alice.await("broadcast").json();
            assertThat(heard.get("channel").asText()).isEqualTo("room:smoke");
            assertThat(heard.get("event").asText()).isEqualTo("paid");
            assertThat(heard.get("origin").asText()).isEqualTo("database");
        }
    }

    @Test
    void the_filter_of_another_owner_is_refused_and_brings_none_of_his_rows() {
        String his = shape("his", "documents", ",\"filter\":\"owner_id=eq." + BOB + "\"");
        try (SseClient alice = sluice.stream(sluice.token(ALICE), his + "," + shape("fence", "metrics", ""))) {
            assertThat(alice.await("ready").data()).contains("\"sub\":\"his\",\"ok\":false", "shape_not_authorized");
            database.execute(
                    "INSERT INTO documents VALUES (201, '" + BOB + "', '', 'bob-private')",
                    "INSERT INTO metrics VALUES (201, 1)");
            change(alice, "fence", "INSERT");
            assertThat(changes(alice)).containsExactly("fence INSERT 201");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "owner_id=eq.x') OR 1=1--",
                "1=1;DROP TABLE documents--=eq.x",
                "owner_id);DELETE FROM documents;--=eq.1",
                "owner_id=eq.1;drop table documents",
                "owner_id=eq." + ALICE + ",or,true",
                "owner_id=eq." + ALICE + " OR true",
                "missing=eq.1",
                "id=in.()",
                "ctid=eq.(0,1)",
                "tableoid=gt.0",
                "id=eq.(select 1)"
            })
    void a_filter_that_tries_more_than_a_condition_is_refused(String filter) {
        String before = database.value("SELECT count(*) FROM documents");
        try (SseClient alice =
                sluice.stream(sluice.token(ALICE), shape("s", "documents", ",\"filter\":\"" + filter + "\""))) {
            assertThat(alice.await("ready").data()).contains("\"ok\":false", "invalid_filter");
        }
        assertThat(database.value("SELECT count(*) FROM documents")).isEqualTo(before);
    }

    @Test
    void a_stream_obeys_its_own_caller_and_nobody_else() throws Exception {
        String room = "{\"sub\":\"room\",\"channel\":\"room:own\"}";
        try (SseClient alice = sluice.stream(sluice.token(ALICE), room)) {
            String id = alice.await("ready").json().get("stream_id").asText();
            String named = "{\"stream_id\":\"" + id + "\",";
            String said = "\"channel\":\"room:own\",\"event\":\"e\",\"payload\":1}";
            assertThat(code("/subscribe", sluice.token(BOB), named + "\"subscriptions\":[" + room + "]}"))
                    .isEqualTo("403 forbidden");
            assertThat(code("/unsubscribe", sluice.token(BOB), named + "\"subs\":[\"room\"]}"))
                    .isEqualTo("403 forbidden");
            assertThat(code("/publish", sluice.token(BOB), named + said)).isEqualTo("403 forbidden");
            assertThat(code("/presence", sluice.token(BOB), named + "\"channel\":\"room:own\"}"))
                    .isEqualTo("403 forbidden");
            String unsigned = "eyJhbGciOiJub25lIn0." + sluice.token(ALICE).split("\\.")[1] + ".";
            for (String bad : List.of(unsigned, "sb_secret_key", "", sluice.token(ALICE) + "x")) {
                assertThat(code("/publish", bad, named + said)).isEqualTo("401 unauthorized");
                assertThat(code("/subscribe", bad, named + "\"subscriptions\":[]}"))
                        .isEqualTo("401 unauthorized");
            }
            assertThat(code("/publish", sluice.token(ALICE), named + said.replace("own", "foreign")))
                    .isEqualTo("403 channel_not_subscribed");
            assertThat(code(
                            "/presence",
                            sluice.token(ALICE),
                            named + "\"channel\":\"room:own\",\"key\":\"" + BOB + "\"}"))
                    .isEqualTo("403 presence_key_not_allowed");
            assertThat(code(
                            "/publish",
                            sluice.token(ALICE),
                            named + said.replace("1}", "\"" + "x".repeat(300 << 10) + "\"}")))
                    .isEqualTo("413 payload_too_large");
            // nothing of all that reached the room, and she still is in it
            assertThat(code("/publish", sluice.token(ALICE), named + said.replace("1}", "1,\"self\":true}")))
                    .startsWith("200");
            assertThat(alice.await("broadcast").json().get("from").asText()).isEqualTo(ALICE);
            assertThat(alice.received()).hasSize(2);
        }
    }

    @Test
    void channels_that_are_not_declared_or_somebody_elses_are_refused() {
        try (SseClient alice = sluice.stream(
                sluice.token(ALICE),
                "{\"sub\":\"x\",\"channel\":\"undeclared:1\"},{\"sub\":\"his\",\"channel\":\"notify:" + BOB + "\"}")) {
            assertThat(alice.await("ready").data()).contains("unknown_namespace", "channel_not_authorized");
        }
    }

    @Test
    void the_same_label_twice_is_refused_for_shapes_and_channels_alike() {
        try (SseClient alice = sluice.stream(
                sluice.token(ALICE), shape("one", "metrics", "") + ",{\"sub\":\"one\",\"channel\":\"room:a\"}")) {
            JsonNode results = alice.await("ready").json().get("subscriptions");
            assertThat(results.get(0).get("ok").asBoolean()).isTrue();
            assertThat(results.get(1).at("/error/code").asText()).isEqualTo("duplicate_sub");
        }
    }

    @Test
    void two_hundred_streams_each_receive_every_row_in_order() {
        List<SseClient> streams = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                SseClient stream = sluice.stream(sluice.token(ALICE), shape("m", "metrics", ""));
                streams.add(stream);
                stream.await(event -> event.is("ready"), Duration.ofSeconds(60));
            }
            List<Integer> expected = new ArrayList<>();
            for (int id = 1001; id <= 1025; id++) {
                database.execute("INSERT INTO metrics VALUES (" + id + ", 0)");
                expected.add(id);
            }
            for (SseClient stream : streams) {
                stream.await(event -> event.is("change") && Notes.id(event) == 1025, Duration.ofSeconds(60));
                assertThat(Notes.ids(stream)).isEqualTo(expected);
            }
        } finally {
            streams.forEach(SseClient::close);
        }
    }

    @Test
    void three_rows_among_fifty_of_others_are_replayed_as_they_were_sent() {
        List<String> live = new ArrayList<>();
        String position;
        try (SseClient alice = stream(shape("posts", "posts", ""))) {
            for (int i = 0; i < 3; i++) {
                post(301 + i, ALICE, 40 * (i + 1));
                live.add(alice.await("change").raw());
                for (int noise = 0; noise < 10; noise++) {
                    post(310 + 10 * i + noise, BOB, 80);
                }
            }
            position = changeEvents(alice).getFirst().json().get("commit_lsn").asText();
        }
        for (int noise = 0; noise < 20; noise++) {
            post(340 + noise, BOB, 80);
        }
        try (SseClient alice = stream(resumed("posts", position))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":true");
            alice.await("live");
            assertThat(changeEvents(alice)).extracting(SseEvent::raw).isEqualTo(live);
        }
    }

    @Test
    void a_shape_without_a_change_resumes_at_the_position_of_its_ready() {
        String position;
        try (SseClient alice = stream(shape("posts", "posts", ""))) {
            position = alice.received().getFirst().json().get("wal_lsn").asText();
        }
        post(401, BOB, 1);
        post(402, ALICE, 1);
        try (SseClient alice = stream(resumed("posts", position))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":true");
            // before `live` or after it: the stream may open before the log has brought the row
            alice.await("change");
            assertThat(changes(alice)).containsExactly("posts INSERT 402");
        }
    }

    @Test
    void a_position_before_everything_is_not_resumed_and_no_error() {
        try (SseClient alice = stream(resumed("posts", "0/1"))) {
            assertThat(alice.received().getFirst().data()).contains("\"resumed\":false");
            post(501, ALICE, 1);
            alice.await("change");
            assertThat(changes(alice)).containsExactly("posts INSERT 501");
            assertThat(alice.received()).noneMatch(event -> event.is("error"));
        }
    }

    @Test
    void a_column_of_every_kind_is_what_to_jsonb_says_from_the_snapshot_and_live() {
        try (SseClient alice = stream(shape("wire", "wire_types", ",\"initial\":\"snapshot\""))) {
            alice.await("live");
            List<SseEvent> read = changeEvents(alice);
            assertThat(read).extracting(Notes::id).containsExactly(1, 2);
            assertThat(read).allMatch(event -> event.json().has("snapshot"));
            read.forEach(event -> WireTypes.assertAsToJsonb(database, event));

            database.execute(WireTypes.insert(3), "UPDATE wire_types SET c0 = false WHERE id = 2");
            alice.await(event ->
                    event.is("change") && event.json().get("op").asText().equals("UPDATE"));
            List<SseEvent> live = changeEvents(alice).subList(2, 4);
            assertThat(live).extracting(Notes::id).containsExactly(3, 2);
            live.forEach(event -> WireTypes.assertAsToJsonb(database, event));
        }
    }

    private static List<SseEvent> changeEvents(SseClient stream) {
        return stream.received().stream().filter(event -> event.is("change")).toList();
    }

    private static void post(int id, String owner, int length) {
        database.execute(
                "INSERT INTO posts VALUES (" + id + ", '" + owner + "', 'private', repeat('x', " + length + "), 1)");
    }

    private static String resumed(String table, String position) {
        return "{\"sub\":\"" + table + "\",\"shape\":{\"table\":\"" + table + "\"},\"resume\":\"" + position + "\"}";
    }

    /// A stream of alice's whose `ready` was read.
    private static SseClient stream(String subscriptions) {
        SseClient alice = sluice.stream(sluice.token(ALICE), subscriptions);
        assertThat(alice.await("ready").data()).contains("\"ok\":true");
        return alice;
    }

    private static SseClient open() {
        SseClient alice = sluice.stream(sluice.token(ALICE), SHAPES);
        assertThat(alice.await("ready").data()).doesNotContain("\"ok\":false");
        return alice;
    }

    /// Status and code of the answer.
    private static String code(String path, String token, String body) throws Exception {
        HttpResponse<String> answer = sluice.post(path, token, body);
        return answer.statusCode() + " " + answer.body().replaceAll("(?s).*\"error\":\"([a-z_]+)\".*", "$1");
    }

    private static SseEvent change(SseClient stream, String label, String operation) {
        return stream.await(event -> event.is("change")
                && label(event).equals(label)
                && event.json().get("op").asText().equals(operation));
    }

    private static String label(SseEvent event) {
        return event.json().get("sub").asText();
    }

    /// Label, operation and id of every change so far.
    private static List<String> changes(SseClient stream) {
        return changeEvents(stream).stream()
                .map(event -> label(event) + " " + event.json().get("op").asText() + " "
                        + event.json()
                                .get(event.json().get("op").asText().equals("DELETE") ? "old" : "record")
                                .get("id"))
                .toList();
    }
}
