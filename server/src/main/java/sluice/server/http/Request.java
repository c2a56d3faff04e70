package sluice.server.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One request, whole.
///
/// @param path without scheme, host and query; compared exactly, never decoded
/// @param bearer the token, null when there is not exactly one
/// @param requestId the label of its log lines
record Request(
        HttpMethod method,
        String path,
        String query,
        HttpHeaders headers,
        @Nullable String bearer,
        String requestId,
        byte[] body) {
    static Request of(HttpRequest head, byte[] body, String requestId) {
        String target = head.uri();
        int question = target.indexOf('?');
        String path = question < 0 ? target : target.substring(0, question);
        return new Request(
                head.method(),
                withoutAuthority(path),
                question < 0 ? "" : target.substring(question + 1),
                head.headers(),
                bearer(head.headers()),
                requestId,
                body);
    }

    /// A proxy may send the absolute form, and a server must accept it.
    private static String withoutAuthority(String path) {
        String lower = path.length() < 8 ? path : path.substring(0, 8).toLowerCase(Locale.ROOT);
        int authority = lower.startsWith("http://") ? 7 : lower.startsWith("https://") ? 8 : -1;
        if (authority < 0) {
            return path;
        }
        int slash = path.indexOf('/', authority);
        return slash < 0 ? "/" : path.substring(slash);
    }

    /// By lower-case name, the first of several, without `Authorization`.
    Map<String, String> headersByName() {
        Map<String, String> byName = new LinkedHashMap<>();
        for (Map.Entry<String, String> header : headers) {
            byName.putIfAbsent(header.getKey().toLowerCase(Locale.ROOT), header.getValue());
        }
        byName.remove("authorization");
        return byName;
    }

    private static @Nullable String bearer(HttpHeaders headers) {
        List<String> values = headers.getAll(HttpHeaderNames.AUTHORIZATION);
        if (values.size() != 1) {
            return null;
        }
        String value = values.get(0).strip();
        if (!value.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return null;
        }
        String token = value.substring(7).strip();
        return token.isEmpty() ? null : token;
    }

    /// Neither token nor body are printed.
    @Override
    public String toString() {
        return method + " " + path + " " + requestId;
    }
}
