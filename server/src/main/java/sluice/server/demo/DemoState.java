package sluice.server.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.Console;

/// What a running demo leaves in its folder so that `sluice sql` finds it. Removed when the
/// demo stops; after kill -9 it
/// stays, and names a port on which nothing answers.
///
/// @param pid the demo's process
record DemoState(long pid, String baseUrl, int postgresPort, String postgresPassword) {
    static final String DATABASE = "postgres";

    private static final String FILE = "demo.json";

    void write(Path folder) throws IOException {
        ObjectNode json = new JsonMapper().createObjectNode();
        json.put("pid", pid);
        json.put("base_url", baseUrl);
        json.put("postgres_port", postgresPort);
        json.put("postgres_password", postgresPassword);
        Folders.writePrivate(folder.resolve(FILE), json + "\n");
    }

    static void remove(Path folder) throws IOException {
        Files.deleteIfExists(folder.resolve(FILE));
    }

    /// Null when the folder has none, or one that cannot be read.
    static @Nullable DemoState read(Path folder) {
        try {
            JsonNode json = new JsonMapper().readTree(Files.readString(folder.resolve(FILE), StandardCharsets.UTF_8));
            return new DemoState(
                    json.path("pid").asLong(),
                    json.path("base_url").asText(),
                    json.path("postgres_port").asInt(),
                    json.path("postgres_password").asText());
        } catch (IOException e) {
            return null;
        }
    }

    Console.Target target() {
        return new Console.Target("127.0.0.1", postgresPort, DATABASE, EmbeddedCluster.OWNER, postgresPassword);
    }

    /// The password is never printed.
    @Override
    public String toString() {
        return "DemoState[" + pid + ", " + baseUrl + "]";
    }
}
