package sluice.server.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import sluice.core.error.ErrorCode;
import sluice.core.stream.CloseReason;
import sluice.server.logging.RequestLog.EndedStream;
import sluice.server.logging.RequestLog.RefusedRequest;
import sluice.server.logging.RequestLog.RefusedSubscription;

class RequestLogTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger("sluice.http");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final AtomicLong nanos = new AtomicLong();
    private final RequestLog log = new RequestLog(nanos::get);

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    private List<String> written() {
        return lines.list.stream()
                .map(line -> line.getLevel() + " " + line.getMessage() + " "
                        + (line.getKeyValuePairs() == null
                                ? ""
                                : line.getKeyValuePairs().toString()))
                .toList();
    }

    @Test
    void streams_refused_for_the_servers_sake_are_one_line_a_second_for_each_code() {
        for (int i = 0; i < 5; i++) {
            log.streamRefused("r" + i, ErrorCode.TOO_MANY_STREAMS, "full");
        }
        log.streamRefused("r9", ErrorCode.NOT_REPLICATING, "not yet");
        nanos.addAndGet(1_000_000_000);
        log.streamRefused("r10", ErrorCode.TOO_MANY_STREAMS, "full");
        assertThat(written()).hasSize(3);
        assertThat(written().get(0)).startsWith("WARN streams refused").contains("refused=\"1\"");
        assertThat(written().get(2)).contains("refused=\"5\"", "too_many_streams");
    }

    @Test
    void twenty_refused_subscriptions_are_named_and_the_rest_counted() {
        log.subscriptionsRefused(
                "r1",
                IntStream.range(0, 25)
                        .mapToObj(i -> new RefusedSubscription("s" + i, "public.t", ErrorCode.INVALID_FILTER, "bad"))
                        .toList());
        assertThat(written()).hasSize(21);
        assertThat(written().get(0))
                .startsWith("INFO subscription refused")
                .contains("sub=\"s0\"", "table=\"public.t\"", "code=\"invalid_filter\"");
        assertThat(written().get(20))
                .startsWith("INFO more subscriptions refused")
                .contains("count=\"5\"");
    }

    @Test
    void a_server_fault_is_a_warning_and_a_shutdown_is_not() {
        log.requestRefused(new RefusedRequest("r", "/p", 503, "catalog_unavailable", "x"));
        log.requestRefused(new RefusedRequest("r", "/p", 503, "server_shutdown", "x"));
        log.requestRefused(new RefusedRequest("r", "/p", 401, "unauthorized", "x"));
        assertThat(written().stream().map(line -> line.substring(0, 4))).containsExactly("WARN", "INFO", "INFO");
    }

    @Test
    void a_stream_the_server_ended_is_a_line_and_a_hang_up_is_not() {
        log.streamEnded(new EndedStream("r", "n.1-1", CloseReason.CLIENT_CLOSED, null));
        assertThat(written()).isEmpty();
        log.streamEnded(new EndedStream("r", "n.1-1", CloseReason.WRITE_FAILED, "late"));
        assertThat(written())
                .containsExactly("INFO stream ended [request_id=\"r\", stream_id=\"n.1-1\", code=\"write_failed\","
                        + " err=\"late\"]");
    }

    @Test
    void a_server_that_stops_because_it_cannot_read_the_log_says_so_of_each_stream() {
        log.streamEnded(new EndedStream("r", "n.1-1", CloseReason.SERVER_SHUTDOWN, null));
        log.replicationStopped();
        log.streamEnded(new EndedStream("r", "n.1-2", CloseReason.SERVER_SHUTDOWN, null));
        log.streamEnded(new EndedStream("r", "n.1-3", CloseReason.TOKEN_EXPIRED, null));
        assertThat(written()).hasSize(3);
        assertThat(written().get(0)).doesNotContain("cause");
        assertThat(written().get(1)).contains("code=\"server_shutdown\"", "cause=\"replication_stopped\"");
        assertThat(written().get(2)).doesNotContain("cause");
    }

    @Test
    void what_a_client_chose_is_cut_to_256_bytes_of_whole_characters() {
        assertThat(ClientText.cut("a".repeat(256))).hasSize(256);
        assertThat(ClientText.cut("a".repeat(300))).hasSize(256);
        String cut = ClientText.cut("é".repeat(300) + "x");
        assertThat(cut.getBytes(StandardCharsets.UTF_8)).hasSize(256);
        assertThat(cut).isEqualTo("é".repeat(128));
        assertThat(ClientText.cut("a" + "é".repeat(300))).isEqualTo("a" + "é".repeat(127));
        assertThat(ClientText.cut("🦊".repeat(100))).isEqualTo("🦊".repeat(64));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "req-1/2;x=~!", "0123456789"})
    void a_visible_request_id_is_kept(String id) {
        assertThat(RequestId.of(id, new Random(1))).isEqualTo(id);
        assertThat(RequestId.of("x".repeat(128), new Random(1))).hasSize(128);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a\tb", "é", "a\u007f", "\n"})
    void any_other_request_id_becomes_a_uuid(String id) {
        assertThat(RequestId.of(id, new Random(1)))
                .matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        assertThat(RequestId.of("x".repeat(129), new Random(1))).hasSize(36);
        assertThat(RequestId.of(null, new Random(1))).hasSize(36);
    }
}
