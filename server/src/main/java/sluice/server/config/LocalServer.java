package sluice.server.config;

/// Where a server that runs with this process's environment listens, as seen from the same machine.
public final class LocalServer {
    private LocalServer() {}

    /// `http://host:port`, loopback where the server listens on every address.
    ///
    /// @throws IllegalArgumentException when `SLUICE_LISTEN_ADDR` has another form
    public static String url() {
        String text = System.getenv("SLUICE_LISTEN_ADDR");
        ListenAddress address = ListenAddress.parse(text == null || text.isBlank() ? "127.0.0.1:4000" : text);
        boolean everywhere = address.host().equals("0.0.0.0") || address.host().equals("::");
        return "http://" + new ListenAddress(everywhere ? "127.0.0.1" : address.host(), address.port());
    }
}
