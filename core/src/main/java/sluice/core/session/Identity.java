package sluice.core.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The verified caller behind a stream.
///
/// @param subject the token's `sub`, its case kept; null for a token without one
/// @param role the database role, one of `SLUICE_ALLOWED_ROLES`
/// @param claims the token's payload as JSON text, byte for byte as signed, for `request.jwt.claims`
/// @param expiresAt when the token ends; checked at dispatch and on each heartbeat
/// @param session what the claim that `SLUICE_JWT_SESSION_CLAIM` names holds, as it was written; null without one
/// @param issuedAt the token's `iat`; null for a token without one
public record Identity(
        @Nullable String subject,
        String role,
        String claims,
        Instant expiresAt,
        @Nullable String session,
        @Nullable Instant issuedAt) {
    /// A caller whose token names no session.
    public Identity(@Nullable String subject, String role, String claims, Instant expiresAt) {
        this(subject, role, claims, expiresAt, null, null);
    }

    /// Claims are never printed.
    @Override
    public String toString() {
        return "Identity[role=" + role + "]";
    }
}
