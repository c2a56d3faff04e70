package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.stream.CloseReason;

/// What one stream was sent, as text: `change LABEL SEQ BODY`, whole frames, `closed REASON`.
final class Received {
    final Handle handle;
    final List<String> frames = new ArrayList<>();
    final List<String> openCommit = new ArrayList<>();
    final List<Integer> openWeights = new ArrayList<>();

    @Nullable
    ErrorCode refusal;

    @Nullable
    CloseReason closed;

    /// The end of the token the stream goes on under, once it was told one.
    @Nullable
    Instant expiresAt;

    Received(Handle handle) {
        this.handle = handle;
    }

    List<String> changes() {
        return frames.stream().filter(frame -> frame.startsWith("change ")).toList();
    }

    List<String> broadcasts() {
        return ofKind("broadcast");
    }

    List<String> presence() {
        return ofKind("presence");
    }

    private List<String> ofKind(String kind) {
        return frames.stream()
                .filter(frame -> frame.startsWith("event: " + kind))
                .toList();
    }

    String only(String kind) {
        List<String> found = ofKind(kind);
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " frames of kind " + kind + " in " + frames);
        }
        return found.getFirst();
    }

    /// Whether a warning event with this code came.
    boolean warned(String code) {
        return frames.stream().anyMatch(frame -> frame.startsWith("event: warning") && frame.contains(code));
    }
}
