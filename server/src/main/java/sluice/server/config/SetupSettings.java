package sluice.server.config;

import java.util.LinkedHashMap;
import java.util.Map;

/// Settings for printing the SQL that prepares a database: nothing is connected to, so what is only needed for that
/// may be missing.
public final class SetupSettings {
    private static final String POOL = "postgres://sluice_authz@localhost/postgres";
    private static final String REPLICATION = "postgres://sluice_repl@localhost/postgres?replication=database";
    private static final String KEYS = "http://localhost/jwks.json";

    private SetupSettings() {}

    /// @throws SettingsException when a variable that is there cannot be used
    public static Settings ofProcess() {
        Map<String, String> environment = new LinkedHashMap<>(System.getenv());
        environment.putIfAbsent("SLUICE_DB_REPL_URL", REPLICATION);
        environment.putIfAbsent("SLUICE_DB_AUTHZ_URL", POOL);
        environment.putIfAbsent("SLUICE_JWKS_URL", KEYS);
        return new SettingsReader(environment, SettingsReader.Place.here()).read();
    }
}
