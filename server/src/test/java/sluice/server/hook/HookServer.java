package sluice.server.hook;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/// An application's endpoint that decides about channels as the test says.
public final class HookServer implements AutoCloseable {
    /// What was asked.
    ///
    /// @param headers by lower-case name, the first of each
    public record Asked(String method, String path, Map<String, String> headers, String body) {
        public boolean isAbout(String channel) {
            return body.contains("\"channel\":\"" + channel + "\"");
        }
    }

    /// What is answered.
    public record Reply(int status, String body, Map<String, String> headers) {
        public static Reply of(int status, String body) {
            return new Reply(status, body, Map.of());
        }

        public static Reply allow() {
            return of(200, "{\"allow\":true}");
        }

        public static Reply allow(int ttl) {
            return of(200, "{\"allow\":true,\"ttl\":" + ttl + "}");
        }

        public static Reply deny() {
            return of(200, "{\"allow\":false}");
        }
    }

    private final HttpServer server;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final AtomicReference<Function<Asked, Reply>> behaviour = new AtomicReference<>(any -> Reply.allow());
    private final CountDownLatch released = new CountDownLatch(1);

    public HookServer() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::answer);
        server.setExecutor(executor);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
    }

    public void answers(Function<Asked, Reply> how) {
        behaviour.set(how);
    }

    public void answers(Reply reply) {
        answers(any -> reply);
    }

    /// Takes questions and never answers them, until it is closed.
    public void hangs() {
        answers(any -> {
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return Reply.of(500, "");
        });
    }

    public List<Asked> asked() {
        return List.copyOf(asked);
    }

    public long askedAbout(String channel) {
        return asked.stream().filter(one -> one.isAbout(channel)).count();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> headers = new LinkedHashMap<>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Asked one = new Asked(
                    exchange.getRequestMethod(), exchange.getRequestURI().getPath(), headers, body);
            asked.add(one);
            Reply reply = behaviour.get().apply(one);
            reply.headers().forEach(exchange.getResponseHeaders()::add);
            byte[] bytes = reply.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(reply.status(), bytes.length == 0 ? -1 : bytes.length);
            if (bytes.length > 0) {
                exchange.getResponseBody().write(bytes);
            }
        }
    }

    @Override
    public void close() {
        released.countDown();
        server.stop(0);
        executor.shutdownNow();
    }
}
