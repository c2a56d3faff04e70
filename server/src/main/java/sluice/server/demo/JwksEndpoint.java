package sluice.server.demo;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/// Serves the demo's public key set on a loopback port of its own, as an identity provider would. It runs before the
/// server starts, since the server fetches its keys at start.
final class JwksEndpoint implements AutoCloseable {
    private static final String PATH = "/.well-known/jwks.json";

    private final HttpServer server;

    private JwksEndpoint(HttpServer server) {
        this.server = server;
    }

    static JwksEndpoint start(String keySet) throws DemoException {
        byte[] body = keySet.getBytes(StandardCharsets.UTF_8);
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
            server.createContext(PATH, exchange -> {
                try (exchange) {
                    exchange.getResponseHeaders().set("Content-Type", "application/json");
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                }
            });
            server.start();
            return new JwksEndpoint(server);
        } catch (IOException e) {
            throw new DemoException("no loopback port for the key set (" + e.getMessage() + ")", "");
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + PATH;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
