package sluice.server.http;

import org.jspecify.annotations.Nullable;

/// Routes beside the protocol's own, outside the prefix. The demo's page uses it; a server has {@link #NONE}.
public interface ExtraRoutes {
    ExtraRoutes NONE = request -> null;

    /// The answer, or null when there is no such route. Called on a virtual thread and may block.
    @Nullable
    Answer answer(Request request);

    /// @param path without query
    /// @param query what follows `?`, empty when nothing does
    /// @param bearer the token of `Authorization`, null when there is none
    record Request(
            String method,
            String path,
            String query,
            @Nullable String bearer,
            byte[] body) {
        /// Neither token nor body are printed.
        @Override
        public String toString() {
            return method + " " + path;
        }
    }
}
