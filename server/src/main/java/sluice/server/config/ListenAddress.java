package sluice.server.config;

/// Where the HTTP listener binds.
///
/// @param host a name or an address without brackets
/// @param port 0 takes any free port
public record ListenAddress(String host, int port) {
    /// Reads `host:port`, `:port` (every address) and `[::1]:port`.
    ///
    /// @throws IllegalArgumentException when the text has another form
    public static ListenAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        String port = colon < 0 ? "" : text.substring(colon + 1);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0 || host.indexOf('[') >= 0) {
            port = "";
        }
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65535 || host.contains(" ")) {
            throw new IllegalArgumentException("not an address: write host:port, e.g. 127.0.0.1:4000 or [::1]:4000");
        }
        return new ListenAddress(host.isEmpty() ? "0.0.0.0" : host, Integer.parseInt(port));
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
