package sluice.bench.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Answers every request with the same frames, each in a chunk of its own, written in pieces of a given size. Then it
/// keeps the connection open until the client closes it.
final class FakeSseServer implements AutoCloseable {
    private final ServerSocket listener;
    private final byte[] answer;
    private final int pieceBytes;

    private FakeSseServer(ServerSocket listener, String answer, int pieceBytes) {
        this.listener = listener;
        this.answer = answer.getBytes(StandardCharsets.UTF_8);
        this.pieceBytes = pieceBytes;
    }

    static FakeSseServer streaming(List<String> frames, int pieceBytes) throws IOException {
        StringBuilder answer = new StringBuilder(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (String frame : frames) {
            int length = frame.getBytes(StandardCharsets.UTF_8).length;
            answer.append(Integer.toHexString(length))
                    .append("\r\n")
                    .append(frame)
                    .append("\r\n");
        }
        return answering(answer.toString(), pieceBytes);
    }

    static FakeSseServer answering(String answer, int pieceBytes) throws IOException {
        FakeSseServer server =
                new FakeSseServer(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), answer, pieceBytes);
        Thread.ofVirtual().start(server::accept);
        return server;
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
            socket.setTcpNoDelay(true);
            while (!"".equals(in.readLine())) {
                // The head of the request; its body is left unread.
            }
            OutputStream out = socket.getOutputStream();
            for (int at = 0; at < answer.length; at += pieceBytes) {
                out.write(answer, at, Math.min(pieceBytes, answer.length - at));
                out.flush();
            }
            while (in.read() >= 0) {
                // Until the client closes.
            }
        } catch (IOException e) {
            // The client has closed.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
