package sluice.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.security.auth.module.UnixSystem;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;

class PostgresServerPgTest {
    private static final List<String> ACCESS = List.of("host all all 127.0.0.1/32 trust");

    @Test
    void a_killed_owner_leaves_neither_server_nor_folder() throws IOException {
        Process owner = ownerProcess();
        try (BufferedReader words = owner.inputReader()) {
            int port = Integer.parseInt(words.readLine());
            Path folder = Path.of(words.readLine());
            assertThat(listens(port)).isTrue();
            assertThat(folder).exists();
            owner.destroyForcibly();
            Await.until("the server is gone", () -> !listens(port));
            Await.until("its folder is gone", () -> !Files.exists(folder));
        } finally {
            owner.destroyForcibly();
        }
    }

    private static Process ownerProcess() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dsluice.postgres.binaries=" + System.getProperty("sluice.postgres.binaries"),
                        Owner.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /// Starts a server, says where, and then waits to be killed.
    static final class Owner {
        public static void main(String[] arguments) throws IOException {
            PostgresServer server =
                    PostgresServer.create(PostgresBinaries.of(18), InitialData.COPIED, Map.of(), ACCESS);
            server.start();
            System.out.println(server.port());
            System.out.println(server.folder());
            System.in.read();
        }
    }

    @Test
    void a_folder_whose_owner_and_watch_are_gone_is_cleared_by_the_next_server() throws IOException {
        Path abandoned = Files.createDirectories(
                SharedFolder.workspace().resolve("clusters").resolve("abandoned"));
        Files.createFile(abandoned.resolve("owner.lock"));
        PostgresServer.create(PostgresBinaries.of(18), InitialData.COPIED, Map.of(), ACCESS)
                .close();
        assertThat(abandoned).doesNotExist();
    }

    @Test
    void the_start_of_one_server_leaves_the_others_of_the_machine_alone() throws IOException {
        try (PostgresServer first =
                PostgresServer.create(PostgresBinaries.of(18), InitialData.COPIED, Map.of(), ACCESS)) {
            first.start();
            PostgresServer.create(PostgresBinaries.of(18), InitialData.COPIED, Map.of(), ACCESS)
                    .close();
            Process other = ownerProcess();
            try (BufferedReader words = other.inputReader()) {
                assertThat(words.readLine())
                        .as("it has started, and cleared what it could")
                        .isNotNull();
                assertThat(listens(first.port())).isTrue();
                assertThat(first.folder()).exists();
            } finally {
                other.destroyForcibly();
            }
        }
    }

    @Test
    void servers_are_told_apart_unless_their_data_is_copied() throws SQLException {
        assertThat(systemIdentifier(InitialData.COPIED)).isEqualTo(systemIdentifier(InitialData.COPIED));
        assertThat(systemIdentifier(InitialData.OWN)).isNotEqualTo(systemIdentifier(InitialData.OWN));
    }

    private static String systemIdentifier(InitialData initial) throws SQLException {
        try (PostgresServer server = PostgresServer.create(PostgresBinaries.of(18), initial, Map.of(), ACCESS)) {
            server.start();
            String url = "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres?user=postgres";
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement();
                    ResultSet result = statement.executeQuery("SELECT system_identifier FROM pg_control_system()")) {
                assertThat(result.next()).isTrue();
                return result.getString(1);
            }
        }
    }

    @Test
    void a_server_that_cannot_start_says_why() {
        try (PostgresServer server = PostgresServer.create(
                PostgresBinaries.of(18), InitialData.COPIED, Map.of("shared_buffers", "none"), ACCESS)) {
            assertThatThrownBy(server::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("shared_buffers");
        }
    }

    @Test
    void root_without_user_namespaces_runs_it_as_nobody() {
        assumeTrue(new UnixSystem().getUid() == 0, "only root needs to");
        try (PostgresServer server = PostgresServer.create(
                PostgresBinaries.of(18), ServerAccount.withoutNamespace(), InitialData.COPIED, Map.of(), ACCESS)) {
            server.start();
            assertThat(listens(server.port())).isTrue();
            server.stop(PostgresServer.Stop.FAST);
            assertThat(listens(server.port())).isFalse();
        }
    }

    @Test
    void an_unknown_version_is_refused_with_a_remedy() {
        assertThatThrownBy(() -> PostgresBinaries.of(9))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("./mvnw");
    }

    private static boolean listens(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
