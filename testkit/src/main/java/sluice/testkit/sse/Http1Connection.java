package sluice.testkit.sse;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// HTTP/1.1 over a plain socket, so that a test decides when bytes are read and how the connection ends.
final class Http1Connection implements StreamConnection {
    private static final Duration HEAD_MAX = Duration.ofSeconds(60);

    private final Socket socket;
    private final int status;
    private final Map<String, List<String>> headers;
    private final InputStream body;

    private Http1Connection(Socket socket, int status, Map<String, List<String>> headers, InputStream body) {
        this.socket = socket;
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    static Http1Connection open(SseRequest request) throws IOException {
        Socket socket = new Socket();
        try {
            if (request.receiveBufferBytes() > 0) {
                socket.setReceiveBufferSize(request.receiveBufferBytes());
            }
            URI uri = request.uri();
            socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) HEAD_MAX.toMillis());
            socket.getOutputStream().write(head(request));
            socket.getOutputStream().write(request.body().getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().flush();
            InputStream in = new BufferedInputStream(socket.getInputStream());
            String[] statusLine = line(in).split(" ", 3);
            Map<String, List<String>> headers = headers(in);
            socket.setSoTimeout(0);
            return new Http1Connection(socket, Integer.parseInt(statusLine[1]), headers, body(in, headers));
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static byte[] head(SseRequest request) {
        URI uri = request.uri();
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        StringBuilder head = new StringBuilder(request.method())
                .append(' ')
                .append(uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery())
                .append(" HTTP/1.1\r\nhost: ")
                .append(uri.getRawAuthority())
                .append("\r\ncontent-length: ")
                .append(request.body().getBytes(StandardCharsets.UTF_8).length)
                .append("\r\n");
        request.headers()
                .forEach((name, value) ->
                        head.append(name).append(": ").append(value).append("\r\n"));
        return head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, List<String>> headers(InputStream in) throws IOException {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.computeIfAbsent(line.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        }
        return headers;
    }

    private static InputStream body(InputStream in, Map<String, List<String>> headers) {
        if (headers.getOrDefault("transfer-encoding", List.of()).contains("chunked")) {
            return new ChunkedBody(in);
        }
        List<String> length = headers.getOrDefault("content-length", List.of());
        return length.isEmpty() ? in : new SizedBody(in, Long.parseLong(length.getFirst()));
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the connection ended in the middle of a line");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    @Override
    public int status() {
        return status;
    }

    @Override
    public Map<String, List<String>> headers() {
        return headers;
    }

    @Override
    public InputStream body() {
        return body;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    @Override
    public void abort() throws IOException {
        socket.setSoLinger(true, 0); // a reset instead of a goodbye
        socket.close();
    }

    /// Exactly so many bytes, or it was cut.
    private static final class SizedBody extends InputStream {
        private final InputStream in;
        private long left;

        SizedBody(InputStream in, long length) {
            this.in = in;
            this.left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int read = in.read(bytes, offset, (int) Math.min(length, left));
            if (read < 0) {
                throw new EOFException("the connection ended with " + left + " bytes missing");
            }
            left -= read;
            return read;
        }
    }

    /// Chunks of the body until the empty one; whatever comes before that is a cut.
    private static final class ChunkedBody extends InputStream {
        private final InputStream in;
        private long left;
        private boolean started;
        private boolean ended;

        ChunkedBody(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left == 0 && !ended) {
                nextChunk();
            }
            if (ended) {
                return -1;
            }
            int read = in.read(bytes, offset, (int) Math.min(length, left));
            if (read < 0) {
                throw new EOFException("the connection ended inside a chunk");
            }
            left -= read;
            return read;
        }

        private void nextChunk() throws IOException {
            if (started) {
                line(in); // the line end behind the last chunk
            }
            started = true;
            left = Long.parseLong(line(in).split(";", 2)[0].strip(), 16);
            if (left == 0) {
                headers(in); // trailers
                ended = true;
            }
        }
    }
}
