package sluice.server.app;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.server.wire.ApiFiles;
import sluice.testkit.Await;

/// An installed proxy on a free port of loopback, with the settings that the operating page gives for it. Around them
/// it compresses everything it can.
final class ProxyProcess implements AutoCloseable {
    private static final String DOCUMENTED_SERVER = "127.0.0.1:4000";

    /// The proxies the page has settings for.
    enum Kind {
        NGINX("nginx", "nginx", "/compressed", """
            daemon off;
            worker_processes 1;
            pid %1$s/pid;
            error_log %1$s/log;
            events { worker_connections 64; }
            http {
                access_log off;
                client_body_temp_path %1$s/body;
                proxy_temp_path %1$s/proxy;
                fastcgi_temp_path %1$s/fastcgi;
                uwsgi_temp_path %1$s/uwsgi;
                scgi_temp_path %1$s/scgi;
                gzip on;
                gzip_min_length 0;
                gzip_proxied any;
                gzip_types text/event-stream application/json;
                server {
                    listen 127.0.0.1:%2$d;
                    location = /compressed {
                        default_type application/json;
                        return 200 '{"status":"compressed by the proxy"}';
                    }
                    %3$s
                }
            }
            """, "-c"),
        CADDY("caddy", "caddyfile", "/compressed", """
            {
                admin off
                auto_https off
                storage file_system %1$s/storage
            }
            http://127.0.0.1:%2$d {
                encode zstd gzip {
                    minimum_length 1
                }
                respond /compressed "compressed by the proxy"
                %3$s
            }
            """, "run", "--adapter", "caddyfile", "--config"),
        HAPROXY("haproxy", "haproxy", "/sluice/v1/healthz", """
            %3$s
            frontend tested
                bind 127.0.0.1:%2$d
                compression algo gzip
                compression type text/event-stream application/json
                default_backend sluice
            """, "-db", "-f");

        private final String program;
        private final String block;
        private final String compressed;
        private final String around;

        @SuppressWarnings("ImmutableEnumChecker") // an immutable list
        private final List<String> arguments;

        Kind(String program, String block, String compressed, String around, String... arguments) {
            this.program = program;
            this.block = block;
            this.compressed = compressed;
            this.around = around;
            this.arguments = List.of(arguments);
        }

        String program() {
            return program;
        }

        /// A path whose answer it compresses for whoever takes that.
        String compressed() {
            return compressed;
        }

        /// Where its program is, when it is installed.
        Optional<Path> installed() {
            return List.of("/usr/sbin", "/usr/bin").stream()
                    .map(folder -> Path.of(folder, program))
                    .filter(Files::isExecutable)
                    .findFirst();
        }

        private String documented() throws IOException {
            String page = Files.readString(ApiFiles.page("operating.md"));
            Matcher matcher =
                    Pattern.compile("(?ms)^```" + block + "\\n(.*?)^```$").matcher(page);
            if (!matcher.find() || !matcher.group(1).contains(DOCUMENTED_SERVER)) {
                throw new AssertionError("no settings of " + program + " for " + DOCUMENTED_SERVER);
            }
            return matcher.group(1);
        }
    }

    private final Process process;
    private final int port;

    private ProxyProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /// Starts the proxy in front of a server and waits until it takes connections.
    ///
    /// @param scratch an empty folder for its files
    static ProxyProcess start(Kind kind, URI server, Path scratch) throws Exception {
        int port = freePort();
        Path settings = scratch.resolve("settings");
        String documented = kind.documented().replace(DOCUMENTED_SERVER, server.getAuthority());
        Files.writeString(settings, kind.around.formatted(scratch, port, documented));
        ProcessBuilder builder =
                new ProcessBuilder(kind.installed().orElseThrow().toString());
        builder.command().addAll(kind.arguments);
        builder.command().add(settings.toString());
        builder.environment().put("HOME", scratch.toString());
        Path output = scratch.resolve("output");
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        ProxyProcess proxy = new ProxyProcess(process, port);
        try {
            Await.until(kind.program + " takes connections", Duration.ofSeconds(30), () -> {
                if (!process.isAlive()) {
                    throw new AssertionError(kind.program + " has ended: " + Files.readString(output));
                }
                return accepts(port);
            });
        } catch (Throwable e) {
            proxy.close();
            throw e;
        }
        return proxy;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        // one that waits for the connections of a client's pool is not waited for
        if (!process.waitFor(2, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }
}
