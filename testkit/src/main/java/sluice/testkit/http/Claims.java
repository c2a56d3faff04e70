package sluice.testkit.http;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The payload of a token, built up in steps. Numbers that are times are seconds since 1970, as JWT has them.
public record Claims(Map<String, @Nullable Object> values) {
    public Claims {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /// Valid for an hour from now, role `authenticated`.
    public static Claims of(String subject) {
        Instant now = Instant.now();
        return new Claims(Map.of())
                .with("sub", subject)
                .with("role", "authenticated")
                .with("aud", "authenticated")
                .with("iat", now.getEpochSecond())
                .with("exp", now.plus(Duration.ofHours(1)).getEpochSecond());
    }

    public static Claims none() {
        return new Claims(Map.of());
    }

    public Claims role(String role) {
        return with("role", role);
    }

    public Claims session(String id) {
        return with("session_id", id);
    }

    public Claims issuer(String issuer) {
        return with("iss", issuer);
    }

    public Claims audience(String... audience) {
        return with("aud", audience.length == 1 ? audience[0] : List.copyOf(Arrays.asList(audience)));
    }

    /// Negative for a token that has expired.
    public Claims expiresIn(Duration fromNow) {
        return with("exp", Instant.now().plus(fromNow).getEpochSecond());
    }

    public Claims notBefore(Duration fromNow) {
        return with("nbf", Instant.now().plus(fromNow).getEpochSecond());
    }

    /// @param value a text, number, boolean, list or map; null is JSON null
    public Claims with(String name, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(values);
        more.put(name, value);
        return new Claims(more);
    }

    public Claims without(String name) {
        Map<String, @Nullable Object> fewer = new LinkedHashMap<>(values);
        fewer.remove(name);
        return new Claims(fewer);
    }

    public String json() {
        return Json.write(values);
    }
}
