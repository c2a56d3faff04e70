package sluice.server.demo;

import java.util.LinkedHashMap;
import java.util.Map;

/// How the server reaches the demo's database: as the two roles that any deployment has, with passwords of this run.
record DemoLogins(int port, String replicationPassword, String authorizationPassword) {
    /// The server's settings, as environment variables would give them.
    Map<String, String> settings(DemoOptions options, String jwksUrl) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("SLUICE_LISTEN_ADDR", "127.0.0.1:" + options.port());
        settings.put("SLUICE_PATH_PREFIX", DemoOptions.PREFIX);
        settings.put("SLUICE_DB_REPL_URL", url("sluice_repl", replicationPassword) + "?replication=database");
        settings.put("SLUICE_DB_AUTHZ_URL", url("sluice_authz", authorizationPassword));
        settings.put("SLUICE_JWKS_URL", jwksUrl);
        settings.put("SLUICE_JWT_AUDIENCE", DemoKey.AUDIENCE);
        settings.put("SLUICE_REVOCATION_ENABLED", "true");
        settings.put("SLUICE_LOG_FORMAT", "text");
        settings.put("SLUICE_NODE_ID", "demo");
        settings.put("SLUICE_RECONNECT_SPREAD", "1s");
        settings.put("SLUICE_PRESENCE_BROADCAST", "200ms");
        settings.put("SLUICE_SPILL_DIR", options.data().resolve("spill").toString());
        return settings;
    }

    private String url(String user, String password) {
        return "postgres://" + user + ":" + password + "@127.0.0.1:" + port + "/" + DemoState.DATABASE;
    }

    /// Passwords are never printed.
    @Override
    public String toString() {
        return "DemoLogins[" + port + "]";
    }
}
