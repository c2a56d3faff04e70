package sluice.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.event.FrameEncoder;

/// The client against a server whose answer is known.
class LoadClientTest {
    private static final String READY =
            "event: ready\ndata: {\"stream_id\":\"a\",\"subscriptions\":[{\"sub\":\"feed\",\"ok\":true}]}\n\n";
    private static final String HEARTBEAT = new String(FrameEncoder.heartbeat(), StandardCharsets.US_ASCII);
    private static final int STREAMS = 3;

    @TempDir
    Path folder = Path.of("");

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100_000})
    void a_faithful_stream_is_no_fault_however_its_bytes_are_cut(int pieceBytes) throws IOException {
        String report = report(List.of(READY, change(1, 1), HEARTBEAT, change(2, 2), change(3, 3)), pieceBytes, 3);
        assertThat(report)
                .contains(" events=9 lost=0 duplicated=0 out_of_order=0 seq_broken=0 unexpected=0")
                .contains(" gone=0 refused=0 failures=0 ");
    }

    @Test
    void several_frames_in_one_chunk_and_one_frame_in_several_chunks_are_read() throws IOException {
        String third = change(3, 3);
        String report = report(
                List.of(READY + change(1, 1) + change(2, 2) + third.substring(0, 40), third.substring(40)), 100_000, 3);
        assertThat(report).contains(" events=9 lost=0 duplicated=0 out_of_order=0 seq_broken=0");
    }

    @Test
    void a_lost_event_is_counted_on_every_stream() throws IOException {
        assertThat(report(List.of(READY, change(1, 1), change(3, 2)), 100_000, 3))
                .contains(" lost=3 duplicated=0 out_of_order=0 seq_broken=0");
        assertThat(report(List.of(READY, change(1, 1), change(3, 3)), 100_000, 3))
                .contains(" lost=3 duplicated=0 out_of_order=0 seq_broken=3");
    }

    @Test
    void an_event_that_came_twice_is_counted() throws IOException {
        assertThat(report(List.of(READY, change(1, 1), change(1, 1), change(2, 2)), 100_000, 2))
                .contains(" lost=0 duplicated=3 out_of_order=0 seq_broken=0");
    }

    @Test
    void events_that_changed_places_are_counted() throws IOException {
        assertThat(report(List.of(READY, change(2, 1), change(1, 2)), 100_000, 2))
                .contains(" lost=0 duplicated=0 out_of_order=3 seq_broken=0");
    }

    @Test
    void an_event_that_nobody_wrote_is_counted() throws IOException {
        assertThat(report(List.of(READY, change(0, 1), change(1, 2)), 100_000, 1))
                .contains(" lost=0 duplicated=0 out_of_order=0 seq_broken=0 unexpected=3");
    }

    @Test
    void a_stream_that_the_server_ends_is_gone() throws IOException {
        // A chunk of no bytes is the last one.
        assertThat(report(List.of(READY, change(1, 1), ""), 100_000, 1)).contains(" lost=0 ", " gone=3 ");
    }

    @Test
    void an_error_event_is_a_failure() throws IOException {
        assertThat(report(List.of(READY, "event: error\ndata: {\"code\":\"internal\"}\n\n"), 100_000, 0))
                .contains(" failures=3 ");
    }

    @Test
    void broadcasts_are_judged_by_their_number() throws IOException {
        assertThat(report(List.of(READY, broadcast(1), broadcast(2), broadcast(3)), 7, 3))
                .contains(" events=9 lost=0 duplicated=0 out_of_order=0 seq_broken=0 unexpected=0");
        assertThat(report(List.of(READY, broadcast(1), broadcast(3)), 100_000, 3))
                .contains(" lost=3 duplicated=0 out_of_order=0 seq_broken=0");
        assertThat(report(List.of(READY, broadcast(2), broadcast(1), broadcast(1)), 100_000, 2))
                .contains(" lost=0 duplicated=3 out_of_order=3 seq_broken=0");
        assertThat(report(List.of(READY, "event: broadcast\ndata: {\"sub\":\"said\"}\n\n"), 100_000, 0))
                .contains(" gone=3 ");
    }

    private static String broadcast(int number) {
        return "event: broadcast\n"
                + "data: {\"sub\":\"said\",\"channel\":\"room:bench\",\"event\":\"said\",\"payload\":{\"n\":"
                + number + ",\"t\":1795977000000000},\"from\":\"x\",\"origin\":\"client\","
                + "\"at\":\"2026-11-29T18:30:00.5Z\"}\n\n";
    }

    @Test
    void a_change_that_lacks_what_is_checked_is_not_passed_over() throws IOException {
        assertThat(report(List.of(READY, "event: change\ndata: {\"sub\":\"feed\",\"seq\":1}\n\n"), 100_000, 0))
                .contains(" gone=3 ");
    }

    @Test
    void a_refused_subscription_opens_nothing() throws IOException {
        try (FakeSseServer server = FakeSseServer.streaming(List.of(READY.replace("true", "false")), 100_000)) {
            assertThat(run(server, 0)).isEqualTo("failed a subscription was refused\n");
        }
    }

    @Test
    void a_refused_request_opens_nothing_and_says_why() throws IOException {
        try (FakeSseServer server = FakeSseServer.answering(
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 24\r\n\r\n{\"error\":\"unauthorized\"}", 100_000)) {
            assertThat(run(server, 0)).isEqualTo("failed HTTP/1.1 401 Unauthorized {\"error\":\"unauthorized\"}\n");
        }
    }

    @Test
    void times_are_read_to_the_microsecond_whatever_zeros_were_left_out() {
        assertThat(micros("1970-01-01T00:00:00Z")).isZero();
        assertThat(micros("2000-02-29T23:59:59.5Z")).isEqualTo(951_868_799_500_000L);
        assertThat(micros("2026-11-29T18:30:00.123456Z")).isEqualTo(1_795_977_000_123_456L);
        assertThat(micros("2026-11-29T18:30:00.123456789Z")).isEqualTo(1_795_977_000_123_456L);
    }

    private static long micros(String time) {
        byte[] bytes = time.getBytes(StandardCharsets.US_ASCII);
        return FrameReader.micros(bytes, 0, bytes.length);
    }

    private String report(List<String> frames, int pieceBytes, int rows) throws IOException {
        try (FakeSseServer server = FakeSseServer.streaming(frames, pieceBytes)) {
            String said = run(server, rows);
            assertThat(said).startsWith("opened streams=" + STREAMS);
            return said.substring(said.indexOf("report "));
        }
    }

    private String run(FakeSseServer server, int rows) throws IOException {
        List<String> requests = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            requests.add("token\t{}");
        }
        Path file = Files.write(folder.resolve("requests"), requests);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        LoadClient client = new LoadClient(
                new LoadOptions(server.port(), "/sluice/v1/stream", file),
                new PrintStream(said, true, StandardCharsets.UTF_8));
        client.command("report " + rows + " 300");
        client.command("close");
        boolean opened = client.run();
        assertThat(opened).isEqualTo(said.toString(StandardCharsets.UTF_8).startsWith("opened"));
        return said.toString(StandardCharsets.UTF_8);
    }

    private static String change(long row, long seq) {
        return "event: change\nid: 0/1A:" + seq + "\ndata: {\"sub\":\"feed\",\"seq\":" + seq
                + ",\"op\":\"INSERT\",\"schema\":\"public\",\"table\":\"bench_feed\",\"commit_lsn\":\"0/1A\","
                + "\"commit_time\":\"2026-11-29T18:30:00.5Z\",\"record\":{\"n\":" + row
                + ",\"room_id\":1,\"t\":1795977000000000}}\n\n";
    }
}
