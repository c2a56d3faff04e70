package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;

/// Clients that take from an HTTP/2 connection what no decent one does. They write frames byte by byte, since no
/// client library lets anybody misbehave so.
@Timeout(60)
class Http2LimitsTest {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int CONTINUATION = 9;

    private static final int END_STREAM = 0x1;
    private static final int END_HEADERS = 0x4;

    private static final int MAX_CONCURRENT_STREAMS = 3;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int MAX_HEADER_LIST_SIZE = 6;

    private static final int REFUSED_STREAM = 7;

    /// @param payload of whatever the frame's type says
    private record Frame(int type, int flags, int stream, byte[] payload) {
        int number(int offset) {
            return Unpooled.wrappedBuffer(payload).getInt(offset);
        }

        /// A setting's value, -1 when it is not among these.
        int setting(int id) {
            ByteBuf settings = Unpooled.wrappedBuffer(payload);
            while (settings.isReadable()) {
                int one = settings.readUnsignedShort();
                int value = settings.readInt();
                if (one == id) {
                    return value;
                }
            }
            return -1;
        }
    }

    /// A connection whose client writes frames itself.
    private static final class Frames implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        private final DataOutputStream out;
        private final Http2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();

        Frames(TestServer server, int... settings) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
            socket.setSoTimeout(20_000);
            in = new DataInputStream(socket.getInputStream());
            out = new DataOutputStream(socket.getOutputStream());
            out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            settings(settings);
        }

        void settings(int... pairs) throws IOException {
            ByteBuf payload = Unpooled.buffer();
            for (int i = 0; i < pairs.length; i += 2) {
                payload.writeShort(pairs[i]).writeInt(pairs[i + 1]);
            }
            send(SETTINGS, 0, 0, bytes(payload));
        }

        void send(int type, int flags, int stream, byte[] payload) throws IOException {
            ByteBuf frame = Unpooled.buffer(9 + payload.length);
            frame.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
            frame.writeBytes(payload);
            out.write(bytes(frame));
        }

        byte[] head(String method, String path, String more) throws Exception {
            Http2Headers headers = new DefaultHttp2Headers()
                    .method(method)
                    .path(path)
                    .scheme("http")
                    .authority("a")
                    .set("authorization", "Bearer " + more);
            ByteBuf block = Unpooled.buffer();
            encoder.encodeHeaders(1, headers, block);
            return bytes(block);
        }

        void ask(int stream, String method, String path, String token) throws Exception {
            send(HEADERS, END_HEADERS | END_STREAM, stream, head(method, path, token));
        }

        /// The next frame, null at the connection's end.
        @org.jspecify.annotations.Nullable
        Frame read() {
            try {
                int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
                return new Frame(in.readUnsignedByte(), in.readUnsignedByte(), in.readInt(), in.readNBytes(length));
            } catch (java.net.SocketTimeoutException e) {
                throw new AssertionError("nothing came", e);
            } catch (IOException e) {
                return null;
            }
        }

        /// Reads up to the first frame of a type.
        Frame await(int type, int stream) {
            for (Frame frame = read(); frame != null; frame = read()) {
                if (frame.type() == type && frame.stream() == stream) {
                    return frame;
                }
            }
            throw new AssertionError("the connection ended");
        }

        /// Sends frames without end and reads none, as long as the server takes them. False when it
        /// still does after
        /// so many.
        boolean isCutOffWithin(int frames, int type, byte[] payload) {
            try {
                for (int i = 0; i < frames; i++) {
                    send(type, 0, 0, payload);
                }
                return false;
            } catch (IOException e) {
                return true;
            }
        }

        /// Whether the connection ends after all that was sent.
        boolean ends() {
            while (true) {
                if (read() == null) {
                    return true;
                }
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static byte[] bytes(ByteBuf buffer) {
        return Arrays.copyOf(buffer.array(), buffer.writerIndex());
    }

    private static void isUnharmed(TestServer server, RawClient neighbour, StreamHandle stream) throws Exception {
        server.commit(List.of(stream), 1, 1, 10);
        assertThat(neighbour.event()).contains("\"seq\":1,");
        try (Frames other = new Frames(server)) {
            other.ask(1, "GET", "/healthz", "");
            assertThat(other.await(HEADERS, 1).payload()).isNotEmpty();
        }
    }

    @Test
    void a_stream_past_the_most_at_once_is_refused_and_the_others_go_on() throws Exception {
        try (TestServer server = new TestServer();
                Frames client = new Frames(server)) {
            int most = client.await(SETTINGS, 0).setting(MAX_CONCURRENT_STREAMS);
            assertThat(most).isEqualTo(1_000);
            server.answers = false;
            byte[] head = client.head("POST", "/sluice/v1/stream", server.tokens.of("alice"));
            for (int i = 0; i < most; i++) {
                client.send(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, head);
            }
            int last = 2 * most + 1;
            client.send(HEADERS, END_HEADERS | END_STREAM, last, head);
            assertThat(client.await(RST_STREAM, last).number(0)).isEqualTo(REFUSED_STREAM);
            for (int i = 0; i < most; i++) {
                server.nextOpened();
            }
            assertThat(server.opened).isEmpty();
            client.send(PING, 0, 0, new byte[8]);
            assertThat(client.await(PING, 0).flags()).isEqualTo(1);
        }
    }

    @Test
    void a_head_longer_than_announced_is_answered_431() throws Exception {
        try (TestServer server = new TestServer();
                Frames client = new Frames(server)) {
            assertThat(client.await(SETTINGS, 0).setting(MAX_HEADER_LIST_SIZE)).isEqualTo(32 * 1024);
            byte[] head = client.head("GET", "/healthz", "y".repeat(40_000));
            sendInPieces(client, 1, head);
            Frame answer = client.await(HEADERS, 1);
            assertThat(new String(answer.payload(), StandardCharsets.ISO_8859_1))
                    .contains("431");
            assertThat(server.opened).isEmpty();
        }
    }

    private static void sendInPieces(Frames client, int stream, byte[] head) throws IOException {
        int piece = 16_000;
        for (int from = 0; from < head.length; from += piece) {
            boolean last = from + piece >= head.length;
            client.send(
                    from == 0 ? HEADERS : CONTINUATION,
                    (last ? END_HEADERS : 0) | (from == 0 ? END_STREAM : 0),
                    stream,
                    Arrays.copyOfRange(head, from, Math.min(head.length, from + piece)));
        }
    }

    @Test
    void a_head_that_never_ends_ends_its_connection() throws Exception {
        try (TestServer server = new TestServer();
                RawClient neighbour = server.stream();
                Frames client = new Frames(server)) {
            StreamHandle stream = server.nextOpened();
            client.send(HEADERS, 0, 1, client.head("GET", "/healthz", ""));
            boolean cut = false;
            try {
                for (int i = 0; i < 100_000 && !cut; i++) {
                    client.send(CONTINUATION, 0, 1, new byte[0]);
                }
            } catch (IOException e) {
                cut = true;
            }
            assertThat(cut || client.ends()).isTrue();
            isUnharmed(server, neighbour, stream);
        }
    }

    @Test
    void settings_and_pings_whose_answers_nobody_reads_end_their_connection() throws Exception {
        try (TestServer server = new TestServer();
                RawClient neighbour = server.stream()) {
            StreamHandle stream = server.nextOpened();
            try (Frames pinging = new Frames(server)) {
                assertThat(pinging.isCutOffWithin(2_000_000, PING, new byte[8])).isTrue();
            }
            try (Frames setting = new Frames(server)) {
                assertThat(setting.isCutOffWithin(2_000_000, SETTINGS, new byte[0]))
                        .isTrue();
            }
            isUnharmed(server, neighbour, stream);
        }
    }

    @Test
    void resets_without_end_end_their_connection() throws Exception {
        try (TestServer server = new TestServer();
                RawClient neighbour = server.stream();
                Frames client = new Frames(server)) {
            StreamHandle stream = server.nextOpened();
            byte[] head = client.head("GET", "/healthz", "");
            boolean cut = false;
            try {
                for (int i = 0; i < 5_000; i++) {
                    client.send(HEADERS, END_HEADERS, 2 * i + 1, head);
                    client.send(RST_STREAM, 0, 2 * i + 1, new byte[] {0, 0, 0, 8});
                }
            } catch (IOException e) {
                cut = true;
            }
            assertThat(cut || client.ends()).isTrue();
            isUnharmed(server, neighbour, stream);
        }
    }

    @Test
    void empty_data_without_end_ends_its_connection() throws Exception {
        try (TestServer server = new TestServer();
                RawClient neighbour = server.stream();
                Frames client = new Frames(server)) {
            StreamHandle stream = server.nextOpened();
            client.send(HEADERS, END_HEADERS, 1, client.head("POST", "/sluice/v1/stream", server.tokens.of("alice")));
            boolean cut = false;
            try {
                for (int i = 0; i < 100_000; i++) {
                    client.send(DATA, 0, 1, new byte[0]);
                }
            } catch (IOException e) {
                cut = true;
            }
            assertThat(cut || client.ends()).isTrue();
            assertThat(server.opened).isEmpty();
            isUnharmed(server, neighbour, stream);
        }
    }

    @Test
    void a_client_that_never_opens_its_window_is_closed_and_holds_no_more_than_its_queue() throws Exception {
        try (TestServer server = new TestServer(TestServer.times(
                        times -> TestServer.shortTimes(Duration.ofSeconds(20), Duration.ofSeconds(1))));
                RawClient neighbour = server.stream();
                Frames client = new Frames(server, INITIAL_WINDOW_SIZE, 0)) {
            StreamHandle other = server.nextOpened();
            client.ask(1, "POST", "/sluice/v1/stream", server.tokens.of("alice"));
            StreamHandle shut = server.nextOpened();
            assertThat(client.await(HEADERS, 1).payload()).isNotEmpty();
            server.commit(List.of(shut), 1, 50, 1_000);
            TestServer.Closed closed = server.nextClosed();
            assertThat(closed.stream()).isEqualTo(shut);
            assertThat(closed.reason()).isEqualTo(CloseReason.WRITE_FAILED);
            Frame end = client.await(RST_STREAM, 1);
            assertThat(end.number(0)).isNotZero();
            assertThat(server.closed).isEmpty();
            isUnharmed(server, neighbour, other);
        }
    }
}
