package sluice.core.dispatch;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.HookKey;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.HookVerdicts.Known;
import sluice.core.channel.Namespaces.Decision;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.session.Identity;

/// The channels of one request: decided by their namespace at once, or by a verdict that is waited for. Owned by the
/// engine's thread.
final class Joining {
    private final ChannelDesk desk;
    private final @Nullable String requestId;
    private final Runnable answered;
    private final Map<HookKey, Known> verdicts = new LinkedHashMap<>();
    private final Set<HookKey> undecided = new LinkedHashSet<>();
    private @Nullable Identity caller;
    private boolean callerChanged;
    private int callers;

    /// @param requestId of the client's request
    /// @param answered told when the last verdict has come
    Joining(ChannelDesk desk, @Nullable String requestId, Runnable answered) {
        this.desk = desk;
        this.requestId = requestId;
        this.answered = answered;
    }

    /// What was decided for another caller is forgotten.
    void begin(Identity of) {
        if (!of.equals(caller)) {
            callerChanged = caller != null;
            callers++;
            verdicts.clear();
            undecided.clear();
            caller = of;
        }
    }

    /// What the namespace says.
    ///
    /// @return the verdict the join has to wait for, null when it needs none
    /// @throws RequestException when the join is refused
    @Nullable
    HookKey decide(String channel, Identity of) {
        return switch (desk.namespaces().decide(channel, of)) {
            case Decision.Admitted() -> null;
            case Decision.Ask(var key) -> key;
        };
    }

    /// Asks about the key, unless it was asked about already.
    void ask(HookKey key, Identity of) {
        if (verdicts.containsKey(key) || !undecided.add(key)) {
            return;
        }
        int asking = callers;
        HookQuestion question = new HookQuestion(key, of, requestId);
        // a question under way was put for what the caller was before
        if (callerChanged) {
            desk.hooks().askAfresh(question, known -> answered(key, known, asking));
        } else {
            desk.hooks().ask(question, known -> answered(key, known, asking));
        }
    }

    private void answered(HookKey key, Known known, int asking) {
        if (asking == callers && undecided.remove(key)) {
            verdicts.put(key, known);
            if (undecided.isEmpty()) {
                answered.run();
            }
        }
    }

    boolean isPending() {
        return !undecided.isEmpty();
    }

    /// The verdict, which is a yes.
    ///
    /// @throws RequestException when it is anything else
    Known admitted(HookKey key) {
        Known told = verdicts.get(key);
        if (told == null) {
            throw new IllegalStateException("not asked about: " + key);
        }
        Known known = desk.hooks().verdicts().newest(key, told, desk.now());
        return switch (known.verdict()) {
            case ALLOW -> known;
            case DENY ->
                throw new RequestException(ErrorCode.CHANNEL_NOT_AUTHORIZED, ChannelDesk.denied(known.reason()));
            case NONE ->
                throw new RequestException(
                        ErrorCode.CHANNEL_HOOK_UNAVAILABLE,
                        String.valueOf(known.reason()),
                        known.retryAfterMillis(desk.now()));
        };
    }
}
