package sluice.core.channel;

import org.jspecify.annotations.Nullable;
import sluice.core.session.ClaimsDigest;
import sluice.core.session.Identity;

/// What a hook's verdict is about. Whoever has the same key shares the verdict.
///
/// @param session the token's session; for a token without one what stands for its claims, since nothing less says
///     that two tokens are the same caller's
public record HookKey(
        String url, String channel, String role, @Nullable String subject, String session) {
    static HookKey of(String url, String channel, Identity caller) {
        String session = caller.session();
        return new HookKey(
                url,
                channel,
                caller.role(),
                caller.subject(),
                session == null ? "claims " + ClaimsDigest.of(caller.claims()) : "session " + session);
    }

    /// Claims are never printed.
    @Override
    public String toString() {
        return "HookKey[channel=" + channel + ", role=" + role + "]";
    }
}
