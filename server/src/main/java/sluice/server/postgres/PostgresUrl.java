package sluice.server.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Where PostgreSQL is and who asks: a connection URL as libpq reads it, turned into what the driver takes.
///
/// `postgres://user:password@host:port,host:port/database?parameter=value`, every part optional and percent-encoded.
/// Immutable. The password leaves only in {@link #driverProperties()}; no message and no text form holds any value of
/// a URL that could not be read, since a badly escaped password may have slipped into any of its parts.
///
/// Source: PostgreSQL 18 manual, 32.1.1.2 "Connection URIs" and 32.1.2 "Parameter Key Words".
public final class PostgresUrl {
    private static final int DEFAULT_PORT = 5432;

    /// Longest time from the first packet to a usable session: an endpoint that accepts and stays
    /// silent is not waited
    /// for.
    private static final String LOGIN_TIMEOUT_SECONDS = "15";

    private final List<Host> hosts;
    private final Map<String, String> parameters;

    /// One server to try.
    ///
    /// @param name host name or address, an IPv6 address without brackets
    public record Host(String name, int port) {
        @Override
        public String toString() {
            return (name.indexOf(':') >= 0 ? "[" + name + "]" : name) + ":" + port;
        }
    }

    private PostgresUrl(List<Host> hosts, Map<String, String> parameters) {
        this.hosts = List.copyOf(hosts);
        this.parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }

    /// @throws IllegalArgumentException when the text is no such URL, or names what the driver
    /// cannot do; the message
    ///     never repeats a value
    public static PostgresUrl parse(String text) {
        String rest = afterScheme(text);
        if (rest.indexOf('@') != rest.lastIndexOf('@')) {
            throw new IllegalArgumentException(
                    "a connection URL holds more than one \"@\"; inside a user name or password write it as %40");
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        // libpq looks for the end of the credentials up to the first "/", so "?" may stand unescaped inside them
        int at = rest.indexOf('@');
        int slash = rest.indexOf('/');
        if (at >= 0 && (slash < 0 || at < slash)) {
            credentials(rest.substring(0, at), parameters);
            rest = rest.substring(at + 1);
        }
        int question = rest.indexOf('?');
        String query = question < 0 ? "" : rest.substring(question + 1);
        String place = question < 0 ? rest : rest.substring(0, question);
        slash = place.indexOf('/');
        String authority = slash < 0 ? place : place.substring(0, slash);
        if (slash >= 0 && slash + 1 < place.length()) {
            parameters.put("dbname", decode(place.substring(slash + 1), "database name"));
        }
        DriverParameters.read(query, parameters);
        return new PostgresUrl(hosts(authority, parameters), parameters);
    }

    private static String afterScheme(String text) {
        for (String scheme : List.of("postgres://", "postgresql://")) {
            if (text.startsWith(scheme)) {
                return text.substring(scheme.length());
            }
        }
        throw new IllegalArgumentException("a connection URL starts with postgres:// or postgresql://");
    }

    private static void credentials(String text, Map<String, String> parameters) {
        int colon = text.indexOf(':');
        String user = colon < 0 ? text : text.substring(0, colon);
        if (!user.isEmpty()) {
            parameters.put("user", decode(user, "user name"));
        }
        if (colon >= 0) {
            parameters.put("password", decode(text.substring(colon + 1), "password"));
        }
    }

    private static List<Host> hosts(String authority, Map<String, String> parameters) {
        String names = parameters.remove("host");
        String ports = parameters.remove("port");
        if (!authority.isEmpty() && names != null) {
            throw new IllegalArgumentException("a connection URL names its host twice");
        }
        List<Host> hosts = new ArrayList<>();
        if (names != null) {
            String[] portList = ports == null ? new String[] {""} : ports.split(",", -1);
            String[] nameList = names.split(",", -1);
            if (portList.length != 1 && portList.length != nameList.length) {
                throw new IllegalArgumentException("a connection URL has another number of ports than of hosts");
            }
            for (int i = 0; i < nameList.length; i++) {
                hosts.add(host(nameList[i], portList[portList.length == 1 ? 0 : i]));
            }
            return hosts;
        }
        for (String part : authority.split(",", -1)) {
            int close = part.startsWith("[") ? part.indexOf(']') : -1;
            if (part.startsWith("[") && close < 0) {
                throw new IllegalArgumentException("an IPv6 address in a connection URL has no closing bracket");
            }
            int colon = part.indexOf(':', Math.max(close, 0));
            String name = colon < 0 ? part : part.substring(0, colon);
            String port = colon < 0 ? (ports == null ? "" : ports) : part.substring(colon + 1);
            hosts.add(host(close < 0 ? decode(name, "host") : name.substring(1, close), port));
        }
        return hosts;
    }

    private static Host host(String name, String port) {
        if (name.startsWith("/")) {
            throw new IllegalArgumentException("a connection URL names a Unix socket, which the driver cannot use");
        }
        if (name.chars().anyMatch(c -> c <= ' ' || c == '/' || c == '?' || c == '#' || c == '&')) {
            throw new IllegalArgumentException("a host name in a connection URL holds an illegal character");
        }
        int number = DEFAULT_PORT;
        if (!port.isEmpty()) {
            number = port.matches("[0-9]{1,5}") ? Integer.parseInt(port) : 0;
            if (number < 1 || number > 65535) {
                throw new IllegalArgumentException("a port in a connection URL is no number from 1 to 65535");
            }
        }
        return new Host(name.isEmpty() ? "localhost" : name, number);
    }

    /// Percent-decoding as libpq does it: `+` stands for itself, `%00` is refused.
    static String decode(String text, String part) {
        ByteBuffer bytes = ByteBuffer.allocate(text.length() * 4);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '%') {
                int end = Character.isHighSurrogate(c) && i + 1 < text.length() ? i + 2 : i + 1;
                bytes.put(text.substring(i, end).getBytes(StandardCharsets.UTF_8));
                i = end - 1;
                continue;
            }
            int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
            int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
            if (high < 0 || low < 0 || high + low == 0) {
                throw new IllegalArgumentException(
                        "the " + part + " of a connection URL has a \"%\" that no two hex digits follow");
            }
            bytes.put((byte) (high << 4 | low));
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            // the cause would hold nothing of use, and decoded bytes must not travel with it
            throw new IllegalArgumentException("the " + part + " of a connection URL is not UTF-8");
        }
    }

    public List<Host> hosts() {
        return hosts;
    }

    /// The role to log in as, null for the driver's default.
    public @Nullable String user() {
        return parameters.get("user");
    }

    /// The database; by libpq's rule the user's name when the URL has none.
    public String database() {
        String database = parameters.get("dbname");
        if (database != null) {
            return database;
        }
        String user = user();
        return user == null ? "postgres" : user;
    }

    /// Whether the URL says `replication=database`.
    public boolean isReplication() {
        return "database".equals(parameters.get("replication"));
    }

    /// The same place as an ordinary session.
    public PostgresUrl withoutReplication() {
        Map<String, String> ordinary = new LinkedHashMap<>(parameters);
        ordinary.remove("replication");
        return new PostgresUrl(hosts, ordinary);
    }

    /// The same server and user, for a replication session.
    public PostgresUrl withReplication() {
        Map<String, String> replication = new LinkedHashMap<>(parameters);
        replication.put("replication", "database");
        return new PostgresUrl(hosts, replication);
    }

    /// The driver's URL: hosts and database, nothing secret.
    public String jdbcUrl() {
        StringBuilder url = new StringBuilder("jdbc:postgresql://");
        for (int i = 0; i < hosts.size(); i++) {
            url.append(i == 0 ? "" : ",").append(hosts.get(i));
        }
        return url.append('/')
                .append(java.net.URLEncoder.encode(database(), StandardCharsets.UTF_8)
                        .replace("+", "%20"))
                .toString();
    }

    /// Everything else the driver must be told, the password included: for the driver only, never for a log. A new
    /// object each time.
    public Properties driverProperties() {
        Properties properties = new Properties();
        properties.setProperty("loginTimeout", LOGIN_TIMEOUT_SECONDS);
        properties.setProperty("tcpKeepAlive", "true");
        DriverParameters.write(parameters, properties);
        if (hosts.size() > 1 && !properties.containsKey("targetServerType")) {
            // a standby's snapshots and positions cannot be joined with the slot's
            properties.setProperty("targetServerType", "primary");
        }
        if (isReplication()) {
            properties.setProperty("replication", "database");
            // without it the driver does not send the replication parameter
            properties.setProperty("assumeMinServerVersion", "15");
            // a walsender knows the simple protocol only
            properties.setProperty("preferQueryMode", "simple");
        }
        return properties;
    }

    /// Hosts and database, for logs.
    @Override
    public String toString() {
        return jdbcUrl().substring("jdbc:".length());
    }
}
