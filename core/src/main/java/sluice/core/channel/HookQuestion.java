package sluice.core.channel;

import org.jspecify.annotations.Nullable;
import sluice.core.session.Identity;

/// May this caller be in this channel?
///
/// @param requestId of the client's request that asks, null when none does
public record HookQuestion(
        HookKey key, Identity caller, @Nullable String requestId) {}
