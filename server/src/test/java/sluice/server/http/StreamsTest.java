package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.event.ChannelEvents;
import sluice.core.event.PassingEvent;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.SubscriptionTag;
import sluice.core.value.JsonString;
import sluice.testkit.Await;

/// Streams over real sockets: what reaches a client, in which order, and how a stream ends.
class StreamsTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private static TestServer server(Duration heartbeat, Duration write) throws IOException {
        return new TestServer(TestServer.times(times -> TestServer.shortTimes(heartbeat, write)));
    }

    private static TestServer smallQueue(int events, long bytes, Duration write) throws IOException {
        return new TestServer(settings -> TestServer.limits(
                        limits -> new HttpSettings.Limits(0, 1_000, events, bytes, 16 * 1024, 1024))
                .apply(TestServer.times(times -> TestServer.shortTimes(LONG, write))
                        .apply(settings)));
    }

    @Test
    void a_stream_begins_with_its_headers_and_ready() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            client.openStream(
                    server.tokens.of("Alice"), "{\"subscriptions\":[{\"sub\":\"docs\",\"shape\":{\"table\":\"t\"}}]}");
            String head = client.head();
            assertThat(head)
                    .contains("\r\nContent-Type: text/event-stream\r\n")
                    .contains("\r\nCache-Control: no-store, no-transform\r\n")
                    .contains("\r\nX-Accel-Buffering: no\r\n")
                    .contains("\r\nVary: Authorization\r\n")
                    .contains("\r\nConnection: keep-alive\r\n")
                    .containsPattern("\r\nSluice-Stream-Id: n1\\.[0-9]{19}-1\r\n");
            assertThat(client.event()).isEqualTo(new String(TestServer.READY, StandardCharsets.UTF_8).strip() + "\n");
            StreamGate.OpenStream opening = server.opened.poll(5, TimeUnit.SECONDS);
            assertThat(opening).isNotNull();
            assertThat(opening.identity().subject()).isEqualTo("Alice");
            assertThat(head).contains("Sluice-Stream-Id: " + opening.stream().streamId() + "\r\n");
            assertThat(opening.subscriptions().get(0).label()).isEqualTo("docs");
        }
    }

    @Test
    void changes_arrive_with_their_heads_in_order() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient alice = server.stream();
                RawClient bob = server.stream()) {
            List<StreamHandle> streams = List.of(server.nextOpened(), server.nextOpened());
            server.commit(streams, 9, 3, 5);
            for (RawClient client : List.of(alice, bob)) {
                for (int seq = 9; seq <= 11; seq++) {
                    assertThat(client.event())
                            .isEqualTo("event: change\nid: 0/1A2B:" + seq + "\ndata: {\"sub\":\"docs\",\"seq\":" + seq
                                    + ",\"op\":\"INSERT\",\"pad\":\"xxxxx\"}\n");
                }
            }
        }
    }

    @Test
    void frames_keep_their_place_among_changes() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            byte[] note = "event: warning\ndata: {}\n\n".getBytes(StandardCharsets.UTF_8);
            server.engine(() -> {
                server.shards().frame(stream, note);
                server.shards().change(stream, TestServer.TAG, 1, TestServer.body(1));
                server.shards().frame(stream, note);
                server.shards().change(stream, TestServer.TAG, 2, TestServer.body(1));
                server.shards().endCommit();
                server.shards().frame(stream, note);
            });
            List<String> kinds = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                kinds.add(client.event().lines().findFirst().orElse(""));
            }
            assertThat(kinds)
                    .containsExactly(
                            "event: warning", "event: change", "event: warning", "event: change", "event: warning");
        }
    }

    @Test
    void what_a_channel_says_is_one_body_with_the_label_of_each_stream() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient alice = server.stream();
                RawClient bob = server.stream()) {
            List<StreamHandle> streams = List.of(server.nextOpened(), server.nextOpened());
            PassingEvent said = ChannelEvents.broadcast(
                    "room:1",
                    new ChannelEvents.Message(JsonString.quoted("said"), "[1]".getBytes(StandardCharsets.UTF_8)),
                    new ChannelEvents.Origin.Client("Alice"),
                    Instant.EPOCH);
            server.engine(() -> {
                server.shards().change(streams.get(0), TestServer.TAG, 1, TestServer.body(1));
                server.shards().passing(streams.get(0), SubscriptionTag.of("a\"b"), said);
                server.shards().passing(streams.get(1), SubscriptionTag.of("room"), said);
                server.shards().endCommit();
            });
            assertThat(alice.event()).startsWith("event: change");
            String rest = ",\"channel\":\"room:1\",\"event\":\"said\",\"payload\":[1],\"from\":\"Alice\","
                    + "\"origin\":\"client\",\"at\":\"1970-01-01T00:00:00Z\"}\n";
            assertThat(alice.event()).isEqualTo("event: broadcast\ndata: {\"sub\":\"a\\\"b\"" + rest);
            assertThat(bob.event()).isEqualTo("event: broadcast\ndata: {\"sub\":\"room\"" + rest);
        }
    }

    @Test
    void what_is_taken_back_takes_what_its_commit_said_along_and_no_presence() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            PassingEvent said = ChannelEvents.broadcast(
                    "room:1",
                    new ChannelEvents.Message(JsonString.quoted("said"), null),
                    new ChannelEvents.Origin.Client(null),
                    Instant.EPOCH);
            PassingEvent present = ChannelEvents.state("room:1", Map.of());
            server.engine(() -> {
                server.shards().passing(stream, SubscriptionTag.of("room"), present);
                server.shards().change(stream, TestServer.TAG, 1, TestServer.body(1));
                server.shards().passing(stream, SubscriptionTag.of("room"), said);
                server.shards().retract(stream);
                server.shards().passing(stream, SubscriptionTag.of("room"), said);
                server.shards().endCommit();
            });
            server.commit(List.of(stream), 1, 1, 1);
            assertThat(client.event()).startsWith("event: presence");
            assertThat(client.event()).startsWith("event: broadcast");
            assertThat(client.event()).startsWith("event: change");
        }
    }

    @Test
    void frames_outside_a_commit_are_never_dropped_for_their_number() throws Exception {
        try (TestServer server = smallQueue(8, 64 << 20, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            for (int i = 0; i < 40; i++) {
                byte[] note = ("event: warning\ndata: " + i + "\n\n").getBytes(StandardCharsets.UTF_8);
                server.engine(() -> server.shards().frame(stream, note));
                assertThat(client.event()).isEqualTo("event: warning\ndata: " + i + "\n");
            }
            server.commit(List.of(stream), 1, 8, 1);
            assertThat(client.event()).startsWith("event: change");
        }
    }

    @Test
    void a_burst_of_exactly_the_queue_arrives_whole_and_in_order() throws Exception {
        try (TestServer server = smallQueue(256, 64 << 20, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 256, 2_000);
            for (int seq = 1; seq <= 256; seq++) {
                assertThat(client.event()).contains("\"seq\":" + seq + ",");
            }
            // and it was no lucky moment: the stream goes on
            server.commit(List.of(stream), 257, 256, 10);
            for (int seq = 257; seq <= 512; seq++) {
                assertThat(client.event()).contains("\"seq\":" + seq + ",");
            }
            assertThat(server.closed).isEmpty();
        }
    }

    @Test
    void more_than_twice_the_queue_ends_the_stream_with_none_of_it_written() throws Exception {
        try (TestServer server = smallQueue(256, 64 << 20, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 3, 10);
            server.commit(List.of(stream), 4, 513, 10);
            for (int seq = 1; seq <= 3; seq++) {
                assertThat(client.event()).contains("\"seq\":" + seq + ",");
            }
            assertThat(client.event())
                    .startsWith("event: error\ndata: {\"code\":\"stream_lagging\"")
                    .contains("\"retryable\":true,\"action\":\"resnapshot\"");
            assertThat(client.event()).isEmpty();
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(stream, CloseReason.STREAM_LAGGING));
            assertThat(client.rest()).isEmpty();
            assertThat(server.closed).isEmpty();
        }
    }

    @Test
    void what_is_taken_back_is_never_written_and_whole_frames_beside_it_are() throws Exception {
        try (TestServer server = smallQueue(8, 64 << 20, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            byte[] note = "event: warning\ndata: kept\n\n".getBytes(StandardCharsets.UTF_8);
            server.engine(() -> {
                server.shards().change(stream, TestServer.TAG, 1, TestServer.body(10));
                server.shards().frame(stream, note);
                server.shards().change(stream, TestServer.TAG, 2, TestServer.body(10));
                server.shards().retract(stream);
                server.shards().endCommit();
            });
            server.commit(List.of(stream), 1, 1, 10);

            assertThat(client.event()).isEqualTo("event: warning\ndata: kept\n");
            assertThat(client.event()).contains("\"seq\":1,");
        }
    }

    @Test
    void the_engine_is_told_once_when_the_queue_it_asked_about_is_empty() throws Exception {
        try (TestServer server = smallQueue(64, 64 << 20, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 3, 10);
            server.engine(stream::tellWhenDrained);

            for (int seq = 1; seq <= 3; seq++) {
                assertThat(client.event()).contains("\"seq\":" + seq + ",");
            }
            assertThat(server.drained.poll(20, TimeUnit.SECONDS)).isSameAs(stream);
            // the first frame counts as well
            assertThat(stream.takenFrames()).isEqualTo(4);
            server.commit(List.of(stream), 4, 1, 10);
            assertThat(client.event()).contains("\"seq\":4,");
            assertThat(server.drained).isEmpty();
        }
    }

    @Test
    void the_queue_is_bounded_in_bytes_too() throws Exception {
        try (TestServer server = smallQueue(256, 100_000, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 21, 10_000);
            assertThat(client.event()).contains("stream_lagging");
            assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.STREAM_LAGGING);
        }
    }

    @Test
    void a_client_that_does_not_read_lags_and_the_others_do_not_notice() throws Exception {
        try (TestServer server = smallQueue(64, 8 << 20, LONG);
                RawClient slow = new RawClient(server.port(), 4096);
                RawClient quick = server.stream()) {
            StreamHandle quickStream = server.nextOpened();
            slow.openStream(server.tokens.of("bob"));
            StreamHandle slowStream = server.nextOpened();
            int seq = 1;
            while (server.closed.isEmpty()) {
                server.commit(List.of(slowStream, quickStream), seq, 8, 4_000);
                for (int i = 0; i < 8; i++) {
                    assertThat(quick.event()).contains("\"seq\":" + seq++ + ",");
                }
                assertThat(seq).as("the slow client was never noticed").isLessThan(20_000);
            }
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(slowStream, CloseReason.STREAM_LAGGING));
            // whole commits, then the reason: nothing is torn
            TestServer.assertReady(slow);
            int expected = 1;
            String event = slow.event();
            while (event.startsWith("event: change")) {
                assertThat(event).contains("\"seq\":" + expected++ + ",");
                event = slow.event();
            }
            assertThat((expected - 1) % 8).isZero();
            assertThat(event).contains("stream_lagging");
            assertThat(slow.event()).isEmpty();
        }
    }

    @Test
    void a_stuck_client_is_cut_off_after_the_write_timeout() throws Exception {
        try (TestServer server = smallQueue(4_000, 512 << 20, Duration.ofMillis(400));
                RawClient stuck = new RawClient(server.port(), 4096);
                RawClient quick = server.stream()) {
            StreamHandle quickStream = server.nextOpened();
            stuck.openStream(server.tokens.of("bob"));
            StreamHandle stuckStream = server.nextOpened();
            server.commit(List.of(stuckStream), 1, 200, 100_000);
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(stuckStream, CloseReason.WRITE_FAILED));
            server.commit(List.of(quickStream, stuckStream), 1, 1, 1);
            assertThat(quick.event()).contains("\"seq\":1,");
            assertThat(server.closed).isEmpty();
            Await.until("the stream is counted out", () -> server.http().streams() == 1);
        }
    }

    @Test
    void after_a_stream_the_connection_serves_the_next_request_and_the_next_stream() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.stream()) {
            for (int i = 0; i < 3; i++) {
                StreamHandle stream = server.nextOpened();
                server.engine(() -> server.shards().close(stream, CloseReason.SESSION_REVOKED, TestServer.READY));
                assertThat(client.event()).isNotEmpty();
                assertThat(client.event()).isEmpty();
                assertThat(client.get("/healthz").status()).isEqualTo(200);
                client.openStream(server.tokens.of("alice"));
                TestServer.assertReady(client);
            }
            Await.until("the ended streams are counted out", () -> server.http().streams() == 1);
        }
    }

    @Test
    void a_connection_on_which_the_client_spoke_during_its_stream_ends_with_it() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            String open = "POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
                    + server.tokens.of("alice") + "\r\nContent-Length: 0\r\n\r\n";
            client.send(open + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
            TestServer.assertReady(client);
            StreamHandle stream = server.nextOpened();
            server.engine(() -> server.shards().close(stream, CloseReason.SESSION_REVOKED, TestServer.READY));
            assertThat(client.event()).isNotEmpty();
            assertThat(client.event()).isEmpty();
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void a_client_that_wants_no_further_answer_gets_a_stream_that_ends_its_connection() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer "
                    + server.tokens.of("alice") + "\r\nContent-Length: 0\r\n\r\n");
            assertThat(client.head()).contains("\r\nConnection: close\r\n");
            StreamHandle stream = server.nextOpened();
            server.engine(() -> server.shards().close(stream, CloseReason.SESSION_REVOKED, TestServer.READY));
            assertThat(client.event()).isNotEmpty();
            assertThat(client.event()).isNotEmpty();
            assertThat(client.event()).isEmpty();
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void a_client_that_hangs_up_is_reported_once() throws Exception {
        try (TestServer server = server(LONG, LONG)) {
            RawClient client = server.stream();
            StreamHandle stream = server.nextOpened();
            client.close();
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(stream, CloseReason.CLIENT_CLOSED));
            server.commit(List.of(stream), 1, 1, 1);
            server.engine(() -> server.shards().close(stream, CloseReason.TOKEN_EXPIRED, TestServer.READY));
            assertThat(server.closed.poll(300, TimeUnit.MILLISECONDS)).isNull();
        }
    }

    @Test
    void a_client_that_hangs_up_before_the_engine_answers_is_reported_and_the_answer_ignored() throws Exception {
        try (TestServer server = server(LONG, LONG)) {
            server.answers = false;
            RawClient client = server.client();
            client.openStream(server.tokens.of("alice"));
            StreamHandle stream = server.nextOpened();
            client.close();
            assertThat(server.nextClosed()).isEqualTo(new TestServer.Closed(stream, CloseReason.CLIENT_CLOSED));
            server.engine(() -> {
                server.shards().open(stream, TestServer.READY);
                server.shards().refuse(stream, ErrorCode.INTERNAL, "x");
            });
            assertThat(server.closed.poll(300, TimeUnit.MILLISECONDS)).isNull();
            assertThat(server.http().streams()).isZero();
        }
    }

    @Test
    void a_thousand_streams_opened_and_left_leave_nothing_behind() throws Exception {
        try (TestServer server = server(LONG, LONG)) {
            String token = server.tokens.of("alice");
            for (int round = 0; round < 10; round++) {
                List<RawClient> clients = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    RawClient client = server.client();
                    client.openStream(token);
                    clients.add(client);
                }
                for (RawClient client : clients) {
                    TestServer.assertReady(client);
                    client.close();
                }
            }
            for (int i = 0; i < 1_000; i++) {
                assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.CLIENT_CLOSED);
            }
            assertThat(server.closed.poll(100, TimeUnit.MILLISECONDS)).isNull();
            assertThat(server.http().streams()).isZero();
            assertThat(new String(server.metrics.scrape(), StandardCharsets.UTF_8))
                    .contains("sluice_streams 0.0", "sluice_stream_closed_total{reason=\"client_closed\"} 1000.0");
        }
    }

    @Test
    void the_engine_closes_a_stream_with_its_own_last_words_and_hears_nothing_back() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.stream()) {
            StreamHandle stream = server.nextOpened();
            byte[] last = "event: error\ndata: {\"last\":1}\n\n".getBytes(StandardCharsets.UTF_8);
            server.engine(() -> {
                server.shards().change(stream, TestServer.TAG, 1, TestServer.body(1));
                server.shards().close(stream, CloseReason.TOKEN_EXPIRED, last);
                server.shards().endCommit();
            });
            assertThat(client.event()).as("the open commit is dropped").contains("\"last\":1");
            assertThat(client.event()).isEmpty();
            assertThat(client.rest()).isEmpty();
            assertThat(server.closed.poll(200, TimeUnit.MILLISECONDS)).isNull();
        }
    }

    @Test
    void a_quiet_stream_has_heartbeats_and_a_busy_one_does_not() throws Exception {
        try (TestServer server = server(Duration.ofMillis(300), LONG);
                RawClient client = server.stream()) {
            for (int i = 0; i < 4; i++) {
                assertThat(client.event()).isEqualTo(": hb\n");
            }
            StreamHandle stream = server.nextOpened();
            long end = System.nanoTime() + Duration.ofMillis(900).toNanos();
            int sent = 0;
            int heartbeats = 0;
            while (System.nanoTime() < end) {
                server.commit(List.of(stream), ++sent, 1, 1);
                String event = client.event();
                while (event.startsWith(":")) {
                    heartbeats++;
                    event = client.event();
                }
            }
            assertThat(heartbeats).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void a_stream_that_goes_on_under_another_token_ends_with_that_one() throws Exception {
        try (TestServer server = server(Duration.ofMillis(640), LONG);
                RawClient client = server.client()) {
            Instant first = Instant.now().plusSeconds(1);
            client.openStream(server.tokens.expiring("alice", first));
            TestServer.assertReady(client);
            StreamHandle stream = server.nextOpened();
            server.engine(() -> server.shards().expires(stream, first.plusSeconds(3600)));
            while (Instant.now().isBefore(first.plusSeconds(2))) {
                assertThat(client.event()).startsWith(": hb");
            }

            server.engine(() -> server.shards().expires(stream, first));
            String event = client.event();
            while (event.startsWith(": hb")) {
                event = client.event();
            }
            assertThat(event).contains("token_expired");
        }
    }

    @Test
    void a_token_that_expires_ends_its_stream_at_a_heartbeat() throws Exception {
        try (TestServer server = server(Duration.ofMillis(200), LONG);
                RawClient client = server.client()) {
            client.openStream(server.tokens.expiring("alice", Instant.now().plusSeconds(1)));
            TestServer.assertReady(client);
            String event = client.event();
            while (event.startsWith(":")) {
                event = client.event();
            }
            assertThat(event)
                    .isEqualTo("event: error\ndata: {\"code\":\"token_expired\",\"message\":\"the token has expired\","
                            + "\"retryable\":false}\n");
            assertThat(client.event()).isEmpty();
            assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.TOKEN_EXPIRED);
        }
    }

    @Test
    void streams_past_the_limit_are_refused_until_one_leaves() throws Exception {
        try (TestServer server =
                new TestServer(TestServer.limits(limits -> new HttpSettings.Limits(1, 1_000, 256, 4 << 20, 0, 1024)))) {
            RawClient first = server.stream();
            try (RawClient second = server.client()) {
                second.openStream(server.tokens.of("bob"));
                RawClient.Reply reply = second.reply();
                assertThat(reply.status()).isEqualTo(503);
                assertThat(reply.body()).contains("too_many_streams");
                assertThat(reply.header("Retry-After")).isNotEmpty();
                first.close();
                server.nextClosed();
                second.openStream(server.tokens.of("bob"));
                TestServer.assertReady(second);
            }
        }
    }

    @Test
    void draining_tells_every_stream_when_to_come_back_and_spreads_them() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        try (TestServer server = server(LONG, LONG)) {
            for (int i = 0; i < 40; i++) {
                clients.add(server.stream());
            }
            RawClient idle = server.client();
            assertThat(idle.get("/healthz").status()).isEqualTo(200);
            server.http().drain();
            List<Integer> delays = new ArrayList<>();
            for (RawClient client : clients) {
                String event = client.event();
                assertThat(event).contains("\"code\":\"server_shutdown\"", "\"retryable\":true,\"retry_after_ms\":");
                delays.add(Integer.parseInt(event.replaceAll("(?s).*retry_after_ms\":([0-9]+).*", "$1")));
                assertThat(client.event()).isEmpty();
                assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.SERVER_SHUTDOWN);
            }
            assertThat(delays).allMatch(delay -> delay >= 0 && delay < 10_000);
            assertThat(delays.stream().distinct().count()).isGreaterThan(30);
            assertThat(delays.stream().mapToInt(Integer::intValue).max().orElse(0)
                            - delays.stream().mapToInt(Integer::intValue).min().orElse(0))
                    .isGreaterThan(5_000);
            assertThat(idle.rest()).isEmpty();
            assertThatThrownBy(server::client).isInstanceOf(IOException.class);
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void draining_lets_a_request_in_flight_finish() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            server.answers = false;
            client.openStream(server.tokens.of("alice"));
            StreamHandle stream = server.nextOpened();
            Thread drain = Thread.ofVirtual().start(() -> {
                try {
                    server.http().drain();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            assertThat(drain.join(Duration.ofMillis(300))).isFalse();
            server.engine(() -> server.shards().open(stream, TestServer.READY));
            RawClient.Reply reply = client.reply();
            assertThat(reply.status()).isEqualTo(503);
            assertThat(reply.body()).contains("server_shutdown");
            assertThat(reply.header("Retry-After")).isEqualTo("5");
            assertThat(server.nextClosed().reason()).isEqualTo(CloseReason.SERVER_SHUTDOWN);
            assertThat(drain.join(Duration.ofSeconds(5))).isTrue();
        }
    }

    @Test
    void an_old_proxy_gets_a_stream_without_chunks() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            client.send("POST /sluice/v1/stream HTTP/1.0\r\nAuthorization: Bearer " + server.tokens.of("alice")
                    + "\r\nContent-Length: 0\r\n\r\n");
            assertThat(client.head()).contains("Connection: close").doesNotContain("chunked");
            StreamHandle stream = server.nextOpened();
            server.engine(() -> server.shards()
                    .close(stream, CloseReason.TOKEN_EXPIRED, "bye\n\n".getBytes(StandardCharsets.UTF_8)));
            assertThat(client.rest()).isEqualTo(new String(TestServer.READY, StandardCharsets.UTF_8) + "bye\n\n");
        }
    }

    @Test
    void what_a_client_says_after_its_request_is_ignored() throws Exception {
        try (TestServer server = server(LONG, LONG);
                RawClient client = server.client()) {
            client.send(
                    "POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.tokens.of("alice")
                            + "\r\nContent-Length: 0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
            TestServer.assertReady(client);
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000));
            server.commit(List.of(server.nextOpened()), 1, 1, 1);
            assertThat(client.event()).startsWith("event: change\n");
        }
    }
}
