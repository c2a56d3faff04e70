package sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
    private ServerSocket echo = new ServerSocket();
    private TcpProxy proxy = TcpProxy.to(1);

    TcpProxyTest() throws IOException {}

    @BeforeEach
    void start() throws IOException {
        echo.close();
        proxy.close();
        echo = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ServerSocket listener = echo;
        Thread.ofVirtual().start(() -> {
            while (true) {
                try {
                    Socket socket = listener.accept();
                    Thread.ofVirtual().start(() -> answer(socket));
                } catch (IOException e) {
                    return;
                }
            }
        });
        proxy = TcpProxy.to(echo.getLocalPort());
    }

    private static void answer(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException e) {
            // The client was cut.
        }
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        echo.close();
    }

    @Test
    void it_forwards_both_ways_and_counts() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "hello")).isEqualTo("hello");
            client.shutdownOutput();
            assertThat(client.getInputStream().read()).isEqualTo(-1);
            assertThat(proxy.bytes(TcpProxy.Direction.TO_SERVER)).isEqualTo(5);
            assertThat(proxy.bytes(TcpProxy.Direction.TO_CLIENT)).isEqualTo(5);
        }
        Await.until("the connection is forgotten", () -> proxy.open() == 0);
    }

    @Test
    void half_closed_one_side_reads_an_end_and_the_other_direction_stays() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "hello")).isEqualTo("hello");
            proxy.halfClose(TcpProxy.Direction.TO_CLIENT);
            assertThat(client.getInputStream().read()).isEqualTo(-1);
            client.getOutputStream().write("lost".getBytes(StandardCharsets.UTF_8));
            Await.until("it went on", () -> proxy.bytes(TcpProxy.Direction.TO_SERVER) == 9);
            assertThat(proxy.open()).isEqualTo(1);
        }
        Await.until("the connection is forgotten", () -> proxy.open() == 0);
        try (Socket client = connect()) {
            assertThat(ask(client, "hello")).isEqualTo("hello");
            proxy.halfClose(TcpProxy.Direction.TO_SERVER);
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
        Await.until("the connection is forgotten", () -> proxy.open() == 0);
    }

    @Test
    void a_cut_resets_and_the_next_connection_works() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "hello")).isEqualTo("hello");
            proxy.cut();
            assertThatThrownBy(() -> client.getInputStream().read())
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
        try (Socket client = connect()) {
            assertThat(ask(client, "again")).isEqualTo("again");
        }
    }

    @Test
    void a_stalled_direction_holds_bytes_until_it_passes() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "hello")).isEqualTo("hello");
            proxy.stall(TcpProxy.Direction.TO_CLIENT);
            client.getOutputStream().write("held".getBytes(StandardCharsets.US_ASCII));
            Await.until("the server has it", () -> proxy.bytes(TcpProxy.Direction.TO_SERVER) == 9);
            client.setSoTimeout(100);
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
            proxy.pass();
            client.setSoTimeout(30_000);
            assertThat(new String(client.getInputStream().readNBytes(4), StandardCharsets.US_ASCII))
                    .isEqualTo("held");
        }
    }

    @Test
    void a_refusing_proxy_closes_new_connections_and_keeps_old_ones() throws IOException {
        try (Socket old = connect()) {
            assertThat(ask(old, "a")).isEqualTo("a");
            proxy.refuse();
            try (Socket fresh = connect()) {
                assertThatThrownBy(() -> ask(fresh, "b")).isInstanceOf(SocketException.class);
            }
            assertThat(ask(old, "c")).isEqualTo("c");
        }
    }

    @Test
    void it_cuts_in_the_middle_of_a_message() throws IOException {
        try (Socket client = connect()) {
            proxy.cutAfter(TcpProxy.Direction.TO_CLIENT, 3);
            assertThatThrownBy(() -> ask(client, "hello")).isInstanceOf(IOException.class);
            assertThat(proxy.bytes(TcpProxy.Direction.TO_CLIENT)).isEqualTo(3);
        }
    }

    @Test
    void a_delay_is_at_least_as_long_as_asked() throws IOException {
        try (Socket client = connect()) {
            proxy.delay(TcpProxy.Direction.TO_SERVER, Duration.ofMillis(60));
            long start = System.nanoTime();
            assertThat(ask(client, "hello")).isEqualTo("hello");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(60));
        }
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    }

    private static String ask(Socket socket, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        socket.getOutputStream().write(bytes);
        byte[] answer = socket.getInputStream().readNBytes(bytes.length);
        if (answer.length < bytes.length) {
            throw new SocketException("closed");
        }
        return new String(answer, StandardCharsets.US_ASCII);
    }
}
