package sluice.core.channel;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// What came of asking a hook.
///
/// @param validFor how long it stands, not yet shortened
/// @param reason the endpoint's own for a denial, null when it gave none; what went wrong when there is no verdict
public record HookAnswer(
        Verdict verdict, Duration validFor, @Nullable String reason) {
    /// How long it is remembered that an endpoint gave no verdict.
    public static final Duration NO_VERDICT_VALID_FOR = Duration.ofSeconds(2);

    /// No verdict is neither yes nor no: who is in stays in, who is not stays out.
    public enum Verdict {
        ALLOW,
        DENY,
        NONE
    }

    /// @param reason one short fact, without anything the endpoint sent
    public static HookAnswer none(String reason) {
        return new HookAnswer(Verdict.NONE, NO_VERDICT_VALID_FOR, reason);
    }
}
