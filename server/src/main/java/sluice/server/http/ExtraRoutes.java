package sluice.server.http;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Routes beside the protocol's own, outside the prefix. The demo's page uses it; a server has {@link #NONE}.
public interface ExtraRoutes {
    ExtraRoutes NONE = request -> null;

    /// The answer, or null when there is no such route. Called on a virtual thread and may block.
    @Nullable
    Answer answer(Request request);

    /// @param path without query
    /// @param query what follows `?`, empty when nothing does
    /// @param headers by lower-case name, the first of several; `Authorization` is not among them
    /// @param bearer the token of `Authorization`, null when there is none
    record Request(
            String method,
            String path,
            String query,
            Map<String, String> headers,
            @Nullable String bearer,
            byte[] body) {
        public Request {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }

        /// Null when the request has none of that name.
        public @Nullable String header(String name) {
            return headers.get(name.toLowerCase(Locale.ROOT));
        }

        /// Neither token nor body are printed.
        @Override
        public String toString() {
            return method + " " + path;
        }
    }
}
