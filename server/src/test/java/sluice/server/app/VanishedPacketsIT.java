package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// A client whose packets vanish, both ways and without a word, while only heartbeats are sent to it: each fits the
/// kernel's buffer and no write ever fails. In a network of its own, where the tests run as root on Linux.
class VanishedPacketsIT {
    /// An address of the loopback that leads nowhere from some time on.
    private static final String VANISHING = "127.0.0.3";

    private static final String LISTED = "{\"sub\":\"all\",\"channel\":\"room:all\",\"presence\":true}";
    private static final Pattern STREAM_ID = Pattern.compile("\"stream_id\":\"([^\"]+)\"");

    @TempDir
    private Path scratch;

    @Test
    @Timeout(180)
    void b32_a_client_whose_packets_vanish_is_given_up_and_its_presence_leaves() throws Exception {
        boolean separable = run("unshare", "-n", "ip", "link", "set", "lo", "up") == 0;
        if (!separable) {
            System.err.println("vanishing packets are not tested: no network of one's own can be made (root, ip)");
        }
        assumeTrue(separable, "no network of one's own");
        Path said = scratch.resolve("said.log");
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "-n",
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        for (String inherited : List.of("sluice.postgres.binaries", "sluice.root")) {
            command.add("-D" + inherited + "=" + System.getProperty(inherited));
        }
        command.add("-Djava.io.tmpdir=" + Files.createDirectories(scratch.resolve("tmp")));
        command.add(Inside.class.getName());
        Process inside = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertThat(inside.waitFor(150, TimeUnit.SECONDS)).as("it ends").isTrue();
            assertThat(inside.exitValue()).as(Files.readString(said)).isZero();
        } finally {
            inside.destroyForcibly();
        }
    }

    private static int run(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException notThere) {
            return -1;
        }
    }

    /// What runs in the network of its own: database, server, a client that stays and one that vanishes.
    static final class Inside {
        private Inside() {}

        public static void main(String[] arguments) throws Exception {
            assertThat(run("ip", "link", "set", "lo", "up")).isZero();
            try (PostgresDatabase database = Notes.database("vanished");
                    RunningSluice sluice =
                            RunningSluice.on(database, Map.of("SLUICE_HEARTBEAT", "5s", "SLUICE_WRITE_TIMEOUT", "2s"));
                    SseClient bob = sluice.stream(sluice.token(BOB), LISTED);
                    Socket alice = connect(sluice.uri("/").getPort())) {
                String stream = open(alice, sluice.token(ALICE));
                sluice.post(
                        "/presence",
                        sluice.token(ALICE),
                        "{\"stream_id\":\"" + stream + "\",\"channel\":\"room:all\"}");
                bob.await(event -> event.is("presence") && event.json().has("joins"));
                assertThat(sluice.figure("sluice_streams")).isEqualTo(2);

                assertThat(run("ip", "route", "add", "blackhole", VANISHING, "table", "local"))
                        .isZero();

                bob.await(event -> event.is("presence") && event.json().has("leaves"));
                Await.until("the stream is gone", () -> sluice.figure("sluice_streams") == 1);
            }
        }

        private static Socket connect(int port) throws IOException {
            Socket socket = new Socket();
            socket.bind(new InetSocketAddress(VANISHING, 0));
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return socket;
        }

        /// The id of a stream in the channel, of which nothing but its `ready` is read.
        private static String open(Socket socket, String token) throws IOException {
            String body = "{\"subscriptions\":[" + LISTED + "]}";
            String request = "POST /sluice/v1/stream HTTP/1.1\r\nHost: vanishing\r\nAuthorization: Bearer " + token
                    + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (String line = answer.readLine(); line != null; line = answer.readLine()) {
                Matcher ready = STREAM_ID.matcher(line);
                if (ready.find()) {
                    return ready.group(1);
                }
            }
            throw new IOException("no stream was opened");
        }
    }
}
