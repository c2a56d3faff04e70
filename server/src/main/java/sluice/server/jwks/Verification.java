package sluice.server.jwks;

import sluice.core.session.Identity;

/// What became of a token.
public sealed interface Verification {
    record Verified(Identity identity) implements Verification {}

    /// @param reason one short fact for the client; holds nothing of the token
    record Refused(String reason) implements Verification {}
}
