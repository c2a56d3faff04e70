package sluice.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import sluice.core.error.ErrorCode;

/// A whole, short HTTP answer.
///
/// @param headers besides `Content-Length` and `Connection`, in order
/// @param body owned by the answer, at most a few hundred kilobytes
public record Answer(int status, Map<String, String> headers, byte[] body) {
    private static final String RETRY_AFTER_SECONDS = "5";

    public Answer {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /// A JSON answer with the headers every one has.
    ///
    /// @param json without the newline that ends the body
    public static Answer json(int status, String json) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", "application/json");
        headers.put("Cache-Control", "no-store");
        headers.put("Vary", "Authorization");
        return new Answer(status, headers, (json + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /// A refusal for the server's sake says when to ask again.
    static Answer error(ErrorCode code, String message) {
        Answer answer = json(
                code.httpStatus(),
                "{\"error\":\"" + code.wireName() + "\",\"message\":" + JsonText.quote(message) + "}");
        return code.httpStatus() == 503 ? answer.with("Retry-After", RETRY_AFTER_SECONDS) : answer;
    }

    Answer with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Answer(status, more, body);
    }
}
