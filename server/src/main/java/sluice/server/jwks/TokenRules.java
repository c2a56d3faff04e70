package sluice.server.jwks;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a token must say to be accepted, besides carrying a good signature.
///
/// @param issuer the exact `iss`, null when it is not checked
/// @param audience what `aud` must hold for a token with a `sub`; a token without `aud` passes
/// @param leeway how far this clock and the signer's may differ, for `exp` and `nbf`
/// @param allowedRoles `role` must be one of these
/// @param sessionClaim the claim that names the session, a text or a whole number
public record TokenRules(
        SigningAlgorithm algorithm,
        @Nullable String issuer,
        String audience,
        Duration leeway,
        List<String> allowedRoles,
        String sessionClaim) {
    public TokenRules {
        allowedRoles = List.copyOf(allowedRoles);
    }

    /// With the session in `session_id`.
    public TokenRules(
            SigningAlgorithm algorithm,
            @Nullable String issuer,
            String audience,
            Duration leeway,
            List<String> allowedRoles) {
        this(algorithm, issuer, audience, leeway, allowedRoles, "session_id");
    }
}
