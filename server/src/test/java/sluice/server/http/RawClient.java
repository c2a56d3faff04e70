package sluice.server.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// A client that says exactly what it is told to, and reads answers byte by byte.
final class RawClient implements AutoCloseable {
    record Reply(int status, String head, String body) {
        String header(String name) {
            for (String line : head.split("\r\n")) {
                if (line.toLowerCase(Locale.ROOT).startsWith(name.toLowerCase(Locale.ROOT) + ": ")) {
                    return line.substring(name.length() + 2);
                }
            }
            return "";
        }
    }

    private final Socket socket = new Socket();
    private final InputStream in;
    private byte[] chunk = new byte[0];
    private int chunkAt;
    private boolean ended;

    RawClient(int port) throws IOException {
        this(port, 0);
    }

    /// @param receiveBuffer 0 for the kernel's default
    RawClient(int port, int receiveBuffer) throws IOException {
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 10_000);
        socket.setSoTimeout(20_000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    Socket socket() {
        return socket;
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }

    void openStream(String token) throws IOException {
        openStream(token, "");
    }

    void openStream(String token, String body) throws IOException {
        ended = false;
        send("POST /sluice/v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token + "\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    Reply get(String path) throws IOException {
        send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
        return reply();
    }

    Reply get(String path, String token) throws IOException {
        send("GET " + path + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token + "\r\n\r\n");
        return reply();
    }

    /// A POST with these further header lines, each ended.
    Reply post(String path, String headers, String body) throws IOException {
        sendPost(path, headers, body);
        return reply();
    }

    void sendPost(String path, String headers, String body) throws IOException {
        send("POST /sluice/v1" + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    /// Status line and headers, with the empty line.
    String head() throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int one = in.read();
            if (one < 0) {
                throw new IOException("ended within a head: " + head);
            }
            head.append((char) one);
        }
        return head.toString();
    }

    Reply reply() throws IOException {
        String head = head();
        Reply empty = new Reply(Integer.parseInt(head.substring(9, 12)), head, "");
        byte[] body = in.readNBytes(Integer.parseInt(empty.header("Content-Length")));
        return new Reply(empty.status(), head, new String(body, StandardCharsets.UTF_8));
    }

    /// The next event or comment of a chunked stream, without the blank line; empty at the stream's proper end.
    String event() throws IOException {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        int last = 0;
        while (true) {
            int one = streamByte();
            if (one < 0) {
                if (event.size() > 0) {
                    throw new IOException("ended within an event: " + event.toString(StandardCharsets.UTF_8));
                }
                return "";
            }
            if (one == '\n' && last == '\n') {
                return event.toString(StandardCharsets.UTF_8);
            }
            event.write(one);
            last = one;
        }
    }

    private int streamByte() throws IOException {
        if (ended) {
            return -1;
        }
        if (chunkAt == chunk.length) {
            int size = Integer.parseInt(line(), 16);
            chunk = in.readNBytes(size);
            chunkAt = 0;
            if (!line().isEmpty() || chunk.length != size) {
                throw new IOException("a chunk does not end where it says");
            }
            if (size == 0) {
                ended = true;
                return -1;
            }
        }
        return chunk[chunkAt++];
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            int one = in.read();
            if (one < 0) {
                throw new IOException("cut off at \"" + line + "\"");
            }
            if (one == '\n') {
                return line.substring(0, line.length() - 1);
            }
            line.append((char) one);
        }
    }

    boolean hasBytes() throws IOException {
        return in.available() > 0;
    }

    /// Reads until the server ends the connection; how it does so does not matter.
    String rest() {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        try {
            in.transferTo(rest);
        } catch (IOException e) {
            rest.writeBytes(("<" + e.getMessage() + ">").getBytes(StandardCharsets.UTF_8));
        }
        return rest.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
