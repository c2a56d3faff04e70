package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;

/// Requests about an open stream, through every stage.
class ControlPgTest {
    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("control")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner_id uuid NOT NULL, title text)",
                "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON notes FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE TABLE docs (id int PRIMARY KEY, tenant text NOT NULL)",
                "ALTER TABLE docs REPLICA IDENTITY FULL",
                "ALTER TABLE docs ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON docs FOR SELECT TO authenticated"
                        + " USING (tenant = (SELECT auth.jwt() ->> 'tenant'))",
                "CREATE TABLE priced (id int PRIMARY KEY, price numeric, sold boolean)",
                "CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id)",
                "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100)",
                "CREATE PUBLICATION sluice FOR TABLE notes, docs, priced, parted");
        sluice = RunningSluice.on(database, Map.of("SLUICE_STREAM_QUEUE", "100000"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    @Test
    void a_shape_subscribed_later_receives_every_commit_after_the_answer_and_no_foreign_row() throws Exception {
        String token = sluice.token(ALICE);
        try (SseClient alice = sluice.stream(token, "")) {
            String streamId = alice.await("ready").json().get("stream_id").asText();

            var answer = sluice.post(
                    "/subscribe",
                    token,
                    "{\"stream_id\":\"" + streamId + "\",\"subscriptions\":[" + shape("mine", "notes", "") + ","
                            + shape("none", "missing", "") + "]}");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body())
                    .contains("{\"results\":[{\"sub\":\"mine\",\"ok\":true", "\"sub\":\"none\",\"ok\":false")
                    .containsPattern("\"wal_lsn\":\"[0-9A-F]+/[0-9A-F]+\"");

            database.execute(
                    "INSERT INTO notes VALUES (1, '" + BOB + "', 'his')",
                    "INSERT INTO notes VALUES (2, '" + ALICE + "', 'hers')");
            assertThat(alice.await("change").data()).contains("\"sub\":\"mine\"", "\"id\":2");
        }
    }

    /// A stream of alice's tenant without subscriptions.
    private static SseClient stream(Claims claims) {
        return sluice.stream(sluice.sign(claims), "");
    }

    private static Claims tenant(String tenant) {
        return Claims.of(ALICE).with("tenant", tenant);
    }

    private static String id(SseClient stream) {
        return stream.await("ready").json().get("stream_id").asText();
    }

    private static HttpResponse<String> subscribe(String streamId, Claims claims, String subscriptions)
            throws Exception {
        return sluice.post(
                "/subscribe",
                sluice.sign(claims),
                "{\"stream_id\":\"" + streamId + "\",\"subscriptions\":[" + subscriptions + "]}");
    }

    private static HttpResponse<String> token(String streamId, Claims claims) throws Exception {
        return sluice.post(
                "/token",
                "none",
                "{\"stream_id\":\"" + streamId + "\",\"access_token\":\"" + sluice.sign(claims) + "\"}");
    }

    private static void insert(int id, String tenant) {
        database.execute("INSERT INTO docs VALUES (" + id + ", '" + tenant + "')");
    }

    private static SseEvent change(SseClient stream, int id) {
        return stream.await(event -> event.is("change") && Notes.id(event) == id);
    }

    @Test
    void a_new_token_decides_from_its_answer_on_and_ends_what_shows_other_rows_or_none() throws Exception {
        try (SseClient stream = stream(tenant("red"))) {
            String id = id(stream);
            assertThat(subscribe(
                                    id,
                                    tenant("red"),
                                    shape("any", "docs", "") + ","
                                            + shape("red", "docs", ",\"filter\":\"tenant=eq.red\""))
                            .body())
                    .doesNotContain("\"ok\":false");
            insert(10, "red");
            assertThat(change(stream, 10).data()).contains("\"sub\":");

            HttpResponse<String> answer = token(id, tenant("blue"));
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("{\"ok\":true,\"revoked_subscriptions\":2}\n");
            assertThat(stream.await(event -> event.is("error") && event.data().contains("\"sub\":\"red\""))
                            .data())
                    .contains("shape_not_authorized");

            insert(11, "red");
            sluice.subscribeAgain(stream, sluice.sign(tenant("blue")), "any", "docs");
            insert(12, "blue");
            sluice.awaitPolls();
            assertThat(sluice.figure("sluice_authz_downgrades_total{schema=\"public\",table=\"docs\"}"))
                    .isZero();
            assertThat(change(stream, 12).data()).contains("\"sub\":\"any\"");
            assertThat(stream.received()).noneMatch(event -> event.is("change") && Notes.id(event) == 11);
        }
    }

    @Test
    void a_stream_outlives_its_first_token_under_a_second_and_not_the_second() throws Exception {
        Instant first = Instant.now().plusSeconds(3);
        try (SseClient stream = stream(tenant("red").with("exp", first.getEpochSecond()))) {
            String id = id(stream);
            subscribe(id, tenant("red"), shape("red", "docs", ""));
            Instant second = Instant.now().plusSeconds(7);
            assertThat(token(id, tenant("red").with("exp", second.getEpochSecond()))
                            .statusCode())
                    .isEqualTo(200);

            Await.until("the first token is over", () -> Instant.now().isAfter(first.plusSeconds(1)));
            insert(20, "red");
            change(stream, 20);

            Await.until("the second token is over", () -> Instant.now().isAfter(second.plusSeconds(1)));
            insert(21, "red");
            assertThat(stream.await("error").data()).contains("token_expired");
            assertThat(stream.received()).noneMatch(event -> event.is("change") && Notes.id(event) == 21);
        }
    }

    @Test
    void a_stream_answers_to_its_own_subject_and_role_and_to_nobody_else() throws Exception {
        try (SseClient stream = stream(tenant("red"))) {
            String id = id(stream);
            for (Claims stranger :
                    List.of(Claims.of(BOB).with("tenant", "red"), tenant("red").role("anon"))) {
                HttpResponse<String> answer = subscribe(id, stranger, shape("red", "docs", ""));
                assertThat(answer.statusCode()).isEqualTo(403);
                assertThat(answer.body()).contains("\"forbidden\"");
            }
            assertThat(token(id, Claims.of(BOB)).body()).contains("subject_mismatch");
            assertThat(token(id, tenant("red").role("anon")).body()).contains("\"forbidden\"");
            assertThat(subscribe("n.1-1", tenant("red"), "").body()).contains("unknown_stream");
            assertThat(subscribe(id, tenant("red"), shape("red", "docs", "")).body())
                    .contains("\"ok\":true");
        }
    }

    @Test
    void what_is_unsubscribed_receives_nothing_more() throws Exception {
        try (SseClient stream = stream(tenant("red"))) {
            String id = id(stream);
            subscribe(id, tenant("red"), shape("one", "docs", "") + "," + shape("two", "docs", ""));
            HttpResponse<String> answer = sluice.post(
                    "/unsubscribe",
                    sluice.sign(tenant("red")),
                    "{\"stream_id\":\"" + id + "\",\"subs\":[\"one\",\"other\"]}");
            assertThat(answer.body()).isEqualTo("{\"removed\":1}\n");

            insert(30, "red");
            insert(31, "red");
            change(stream, 31);
            assertThat(stream.received())
                    .noneMatch(event -> event.is("change") && event.data().contains("\"sub\":\"one\""));
        }
    }

    @Test
    void the_rate_counts_subscriptions_and_says_when_to_come_back() throws Exception {
        try (SseClient stream = stream(tenant("red"))) {
            String id = id(stream);
            String many = IntStream.range(0, 40)
                    .mapToObj(i -> shape("s" + i, "docs", ""))
                    .collect(Collectors.joining(","));
            assertThat(subscribe(id, tenant("red"), many).body()).contains("\"ok\":true", "too_many_shapes");

            HttpResponse<String> refused = subscribe(id, tenant("red"), shape("x", "docs", ""));
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.body()).contains("rate_limited");
            assertThat(refused.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isBetween(1L, 2L);
        }
    }

    @Test
    void a_stream_that_asks_for_it_is_told_where_each_transaction_ends() {
        try (SseClient stream = SseClient.post(
                        sluice.uri("/sluice/v1/stream"),
                        "{\"transactions\":true,\"subscriptions\":[" + shape("red", "docs", "") + "]}")
                .bearer(sluice.sign(tenant("red")))
                .open()) {
            stream.await("ready");
            database.execute("INSERT INTO docs VALUES (40, 'other')");
            String xid = database.value("WITH written AS (INSERT INTO docs VALUES (41, 'red'), (42, 'red') RETURNING 1)"
                    + " SELECT pg_current_xact_id()::xid FROM written LIMIT 1");

            JsonNode commit = stream.await("commit").json();
            assertThat(commit.get("xid").asText()).isEqualTo(xid);
            List<SseEvent> changes = stream.received().stream()
                    .filter(event -> event.is("change"))
                    .toList();
            assertThat(changes)
                    .hasSize(2)
                    .allMatch(change -> change.json().get("commit_lsn").equals(commit.get("commit_lsn")));
            assertThat(changes.getFirst().json().get("commit_time")).isEqualTo(commit.get("commit_time"));
        }
    }

    @Test
    void an_operator_drops_shapes_by_what_their_filter_fixes() throws Exception {
        try (SseClient stream = stream(tenant("red"))) {
            String id = id(stream);
            subscribe(
                    id,
                    tenant("red"),
                    shape("fixed", "docs", ",\"filter\":\"tenant=eq.red\"") + "," + shape("open", "docs", ""));
            String body =
                    "{\"table\":\"docs\",\"equalities\":{\"tenant\":\"red\"},\"identity\":{\"sub\":\"" + ALICE + "\"}}";
            assertThat(sluice.post("/admin/shapes/drop", sluice.sign(tenant("red")), body)
                            .statusCode())
                    .isEqualTo(403);

            HttpResponse<String> answer = sluice.post("/admin/shapes/drop", sluice.token(BOB, "service_role"), body);
            assertThat(answer.body()).isEqualTo("{\"dropped\":1}\n");
            assertThat(stream.await("error").data()).contains("\"sub\":\"fixed\"", "shape_not_authorized", "operator");
            assertThat(sluice.post("/admin/jwks/refresh", sluice.token(BOB, "service_role"), "")
                            .body())
                    .isEqualTo("{\"ok\":true}\n");
        }
    }

    /// The publication names the root and sends its leaves.
    @Test
    void b28_a_root_that_is_published_as_its_partitions_is_refused_with_the_reason_and_a_partition_is_served() {
        try (SseClient stream =
                sluice.stream(sluice.token(ALICE), shape("root", "parted", "") + "," + shape("leaf", "parted_1", ""))) {
            JsonNode results = stream.await("ready").json().get("subscriptions");
            assertThat(results.at("/0/error/code").asText()).isEqualTo("relation_not_published");
            assertThat(results.at("/0/error/message").asText()).contains("publish_via_partition_root = true");
            database.execute("INSERT INTO parted VALUES (1)");
            assertThat(change(stream, 1).data()).contains("\"sub\":\"leaf\"", "\"table\":\"parted_1\"");
        }
    }

    @Test
    void an_operator_names_constants_as_json_has_them() throws Exception {
        try (SseClient stream = sluice.stream(
                sluice.token(ALICE),
                shape("price", "priced", ",\"filter\":\"price=eq.1.50\"") + ","
                        + shape("sold", "priced", ",\"filter\":\"sold=eq.true\"") + ","
                        + shape("id", "priced", ",\"filter\":\"id=eq.7\""))) {
            assertThat(stream.await("ready").data()).doesNotContain("\"ok\":false");
            for (String equality : List.of("\"price\": 1.50", "\"sold\":true", "\"id\":7")) {
                String body = "{\"table\":\"priced\",\"equalities\":{" + equality + "}}";
                assertThat(sluice.post("/admin/shapes/drop", sluice.token(BOB, "service_role"), body)
                                .body())
                        .as(equality)
                        .isEqualTo("{\"dropped\":1}\n");
            }
        }
    }

    @Test
    void a_shape_subscribed_while_rows_are_written_misses_none_after_its_answer() throws Exception {
        AtomicInteger written = new AtomicInteger(1000);
        AtomicBoolean enough = new AtomicBoolean();
        Thread writer = Thread.ofVirtual().start(() -> {
            while (!enough.get()) {
                insert(written.get() + 1, "green");
                written.incrementAndGet();
            }
        });
        try (SseClient stream = stream(tenant("green"))) {
            String id = id(stream);
            for (int round = 0; round < 10; round++) {
                String label = "r" + round;
                assertThat(subscribe(id, tenant("green"), shape(label, "docs", ""))
                                .body())
                        .contains("\"ok\":true");
                int committed = written.get();
                Await.until("more rows are written", () -> written.get() > committed + 10);
                change(stream, written.get());

                List<Integer> ids = stream.received().stream()
                        .filter(event -> event.is("change") && event.data().contains("\"" + label + "\""))
                        .map(Notes::id)
                        .toList();
                assertThat(ids.getFirst()).isLessThanOrEqualTo(committed + 2);
                for (int i = 1; i < ids.size(); i++) {
                    assertThat(ids.get(i)).isEqualTo(ids.get(i - 1) + 1);
                }
            }
        } finally {
            enough.set(true);
            writer.join();
        }
    }
}
