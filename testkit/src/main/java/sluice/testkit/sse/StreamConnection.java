package sluice.testkit.sse;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/// A response whose body is still coming.
interface StreamConnection {
    int status();

    /// Names in lower case.
    Map<String, List<String>> headers();

    /// Ends where the response ends; fails when it is cut.
    InputStream body();

    /// As a client that goes away in order.
    void close() throws IOException;

    /// As a client that vanishes: nothing pending is read, nothing is said.
    void abort() throws IOException;
}
