package sluice.server.http;

/// What `GET /diagnostics` answers.
public interface DiagnosticsReport {
    /// There is no such endpoint.
    DiagnosticsReport HIDDEN = () -> "{}";

    /// The report as JSON. Called on a virtual thread; waits for the engine, for seconds at most.
    ///
    /// @throws sluice.core.error.RequestException when it cannot be had now
    String json();
}
