package sluice.bench.client;

import java.nio.file.Path;

/// What the load client is started with, always on 127.0.0.1.
///
/// @param port the server's
/// @param path of the endpoint that opens a stream
/// @param requests a file with a line for each stream: the token, a tab, the request's body
public record LoadOptions(int port, String path, Path requests) {
    /// What one process may have open at once here, with room for its other files.
    public static final int STREAMS_MAX = 19_000;

    static LoadOptions of(String[] arguments) {
        return new LoadOptions(Integer.parseInt(arguments[0]), arguments[1], Path.of(arguments[2]));
    }

    /// As {@link #of} reads them.
    public String[] arguments() {
        return new String[] {Integer.toString(port), path, requests.toString()};
    }
}
