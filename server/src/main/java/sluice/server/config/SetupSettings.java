package sluice.server.config;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Settings for commands that serve nobody: what is only needed to serve may be missing.
public final class SetupSettings {
    private static final String POOL = "postgres://sluice_authz@localhost/postgres";
    private static final String REPLICATION = "postgres://sluice_repl@localhost/postgres?replication=database";
    private static final String NO_REPLICATION_ROLE = "postgres://localhost/postgres?replication=database";
    private static final String KEYS = "http://localhost/jwks.json";

    private SetupSettings() {}

    /// For printing the SQL that prepares a database; nothing is connected to.
    ///
    /// @throws SettingsException when a variable that is there cannot be used
    public static Settings ofProcess() {
        Map<String, String> environment = new LinkedHashMap<>(System.getenv());
        environment.putIfAbsent("SLUICE_DB_REPL_URL", REPLICATION);
        environment.putIfAbsent("SLUICE_DB_AUTHZ_URL", POOL);
        return read(environment);
    }

    /// For a look at a database, as the role of the pool.
    ///
    /// @param url of the database; null for the one of `SLUICE_DB_AUTHZ_URL`
    /// @throws SettingsException when there is no URL, or a variable that is there cannot be used
    public static Settings forLookingAt(@Nullable String url) {
        Map<String, String> environment = new LinkedHashMap<>(System.getenv());
        environment.putIfAbsent("SLUICE_DB_REPL_URL", NO_REPLICATION_ROLE);
        if (url != null) {
            environment.put("SLUICE_DB_AUTHZ_URL", url);
        }
        return read(environment);
    }

    private static Settings read(Map<String, String> environment) {
        environment.putIfAbsent("SLUICE_JWKS_URL", KEYS);
        return new SettingsReader(environment, SettingsReader.Place.here()).read();
    }
}
