package sluice.server.demo;

import java.nio.file.Path;

/// What the command line asked for.
///
/// @param port 0 for any free one
/// @param postgresMajor 15 to 18
/// @param data where the clusters, the key and the logs lie; absolute
/// @param binaries where the build put PostgreSQL's programs
public record DemoOptions(int port, int postgresMajor, Path data, Path binaries) {
    /// Of all the server's endpoints.
    static final String PREFIX = "/sluice/v1";

    /// `.demo` below the checkout that the launcher runs from, or below the current folder without the launcher.
    public static Path defaultData() {
        return home().resolve(".demo");
    }

    /// Where the launcher says that the build fetches PostgreSQL to.
    public static Path defaultBinaries() {
        String given = System.getProperty("sluice.postgres.binaries");
        return given != null ? Path.of(given) : home().resolve("target").resolve("postgres");
    }

    private static Path home() {
        return Path.of(System.getProperty("sluice.root", "")).toAbsolutePath().normalize();
    }
}
