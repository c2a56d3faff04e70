package sluice.server.postgres;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/// libpq's parameter words and the driver's properties of the same meaning.
final class DriverParameters {
    /// libpq's word, the driver's word.
    private static final Map<String, String> SAME_VALUE = Map.ofEntries(
            Map.entry("user", "user"),
            Map.entry("password", "password"),
            Map.entry("options", "options"),
            Map.entry("application_name", "ApplicationName"),
            Map.entry("fallback_application_name", "ApplicationName"),
            Map.entry("channel_binding", "channelBinding"),
            Map.entry("sslcert", "sslcert"),
            Map.entry("sslkey", "sslkey"),
            Map.entry("sslpassword", "sslpassword"),
            Map.entry("gssencmode", "gssEncMode"),
            Map.entry("krbsrvname", "kerberosServerName"));

    /// Read here or elsewhere, each with a treatment of its own.
    private static final Set<String> TREATED = Set.of(
            "host",
            "port",
            "dbname",
            "replication",
            "sslmode",
            "sslrootcert",
            "connect_timeout",
            "target_session_attrs",
            "load_balance_hosts");

    /// Without an equivalent, and without consequence for what is sent or trusted.
    private static final Set<String> WITHOUT_EFFECT = Set.of(
            "keepalives",
            "keepalives_idle",
            "keepalives_interval",
            "keepalives_count",
            "tcp_user_timeout",
            "client_encoding",
            "sslsni");

    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    private static final Map<String, String> SERVER_TYPES = Map.of(
            "any", "any",
            "read-write", "primary",
            "primary", "primary",
            "read-only", "secondary",
            "standby", "secondary",
            "prefer-standby", "preferSecondary");

    private DriverParameters() {}

    /// Adds what stands behind the `?` of a URL.
    static void read(String query, Map<String, String> parameters) {
        if (query.isEmpty()) {
            return;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("a parameter of a connection URL has no name or no value");
            }
            String name = PostgresUrl.decode(pair.substring(0, equals), "parameter name");
            String value = PostgresUrl.decode(pair.substring(equals + 1), "parameter value");
            if (name.equals("ssl") && value.equals("true")) {
                name = "sslmode";
                value = "require";
            }
            if (WITHOUT_EFFECT.contains(name)) {
                continue;
            }
            if (!SAME_VALUE.containsKey(name) && !TREATED.contains(name)) {
                throw new IllegalArgumentException(
                        name.matches("[a-z_]{1,40}")
                                ? "a connection URL has the unknown parameter \"" + name + "\""
                                : "a connection URL has an unknown parameter");
            }
            check(name, value);
            parameters.put(name, value);
        }
    }

    private static void check(String name, String value) {
        boolean legal = switch (name) {
            case "sslmode" -> SSL_MODES.contains(value);
            case "target_session_attrs" -> SERVER_TYPES.containsKey(value);
            case "replication" -> value.equals("database");
            case "connect_timeout" -> value.matches("[0-9]{1,6}");
            case "load_balance_hosts" -> value.equals("disable") || value.equals("random");
            default -> true;
        };
        if (!legal) {
            throw new IllegalArgumentException(
                    "the parameter \"" + name + "\" of a connection URL has an illegal value");
        }
    }

    static void write(Map<String, String> parameters, Properties properties) {
        Map<String, String> rest = new LinkedHashMap<>(parameters);
        for (Map.Entry<String, String> entry : rest.entrySet()) {
            String driverName = SAME_VALUE.get(entry.getKey());
            if (driverName != null) {
                properties.setProperty(driverName, entry.getValue());
            }
        }
        String timeout = rest.get("connect_timeout");
        if (timeout != null) {
            properties.setProperty("loginTimeout", timeout);
            properties.setProperty("connectTimeout", timeout);
        }
        String target = rest.get("target_session_attrs");
        if (target != null) {
            properties.setProperty("targetServerType", SERVER_TYPES.getOrDefault(target, target));
        }
        if ("random".equals(rest.get("load_balance_hosts"))) {
            properties.setProperty("loadBalanceHosts", "true");
        }
        encryption(rest, properties);
    }

    private static void encryption(Map<String, String> parameters, Properties properties) {
        String mode = parameters.getOrDefault("sslmode", "prefer");
        String root = parameters.get("sslrootcert");
        if (root == null) {
            properties.setProperty("sslmode", mode);
            return;
        }
        if (root.equals("system")) {
            properties.setProperty("sslmode", "verify-full");
            properties.setProperty("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
            return;
        }
        // libpq checks the certificate whenever it was given a root; the driver only in the verify modes
        properties.setProperty("sslmode", mode.equals("require") ? "verify-ca" : mode);
        properties.setProperty("sslrootcert", root);
    }
}
