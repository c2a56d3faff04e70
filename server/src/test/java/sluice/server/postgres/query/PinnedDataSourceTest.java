package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import sluice.server.postgres.PostgresUrl;

class PinnedDataSourceTest {
    /// As a pooler does that has lost its server: everybody is let in, and then waits.
    @Test
    void whoever_lets_everybody_in_and_then_is_silent_is_not_waited_for_longer_than_for_a_login() throws Exception {
        try (ServerSocket pooler = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> letEverybodyIn(pooler));
            PinnedDataSource source = new PinnedDataSource(PostgresUrl.parse("postgres://sluice_authz@127.0.0.1:"
                    + pooler.getLocalPort() + "/app?sslmode=disable&gssencmode=disable&connect_timeout=1"));
            CompletableFuture<Boolean> refused = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> refused.complete(isRefused(source)));
            assertThat(refused.get(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static boolean isRefused(PinnedDataSource source) {
        try {
            source.getConnection().close();
            return false;
        } catch (SQLException e) {
            return QueryException.connecting(e).kind() == QueryException.Kind.TRANSIENT;
        }
    }

    private static void letEverybodyIn(ServerSocket pooler) {
        try {
            Socket client = pooler.accept();
            DataInputStream in = new DataInputStream(client.getInputStream());
            in.skipNBytes(in.readInt() - 4L);
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            message(out, 'R', new byte[4]);
            parameter(out, "server_version", "18.0");
            parameter(out, "client_encoding", "UTF8");
            parameter(out, "DateStyle", "ISO, MDY");
            parameter(out, "standard_conforming_strings", "on");
            parameter(out, "integer_datetimes", "on");
            message(out, 'K', new byte[8]);
            message(out, 'Z', new byte[] {'I'});
            var _ = in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // the test is over
            return;
        }
    }

    private static void parameter(DataOutputStream out, String name, String value) throws IOException {
        message(out, 'S', (name + '\0' + value + '\0').getBytes(StandardCharsets.US_ASCII));
    }

    private static void message(DataOutputStream out, char kind, byte[] body) throws IOException {
        out.writeByte(kind);
        out.writeInt(body.length + 4);
        out.write(body);
    }
}
