package sluice.core.dispatch;

import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.stream.StreamState;

/// How much one stream may hold, shapes and channels together, however many requests it was asked in.
final class StreamLimits {
    private StreamLimits() {}

    /// Whether the stream has room for one more shape.
    ///
    /// @param more entries of the same request that will be installed before it
    /// @param moreShapes how many of them are shapes
    /// @throws RequestException the limit it would break
    static void admitShape(EngineSettings settings, StreamState stream, int more, int moreShapes) {
        admit(settings, stream, more);
        if (stream.subscriptions().size() + moreShapes >= settings.shapesPerStreamMax()) {
            throw new RequestException(
                    ErrorCode.TOO_MANY_SHAPES,
                    "a stream has at most " + settings.shapesPerStreamMax()
                            + " shapes (SLUICE_MAX_SHAPES_PER_STREAM); open another stream");
        }
    }

    /// Whether the stream has room for one more subscription of any kind.
    ///
    /// @param more entries of the same request that will be installed before it
    /// @throws RequestException the limit it would break
    static void admit(EngineSettings settings, StreamState stream, int more) {
        if (stream.labelCount() + more >= settings.subscriptionsPerStreamMax()) {
            throw new RequestException(
                    ErrorCode.TOO_MANY_SUBSCRIPTIONS,
                    "a stream has at most " + settings.subscriptionsPerStreamMax()
                            + " subscriptions (SLUICE_MAX_SUBS_PER_STREAM); open another stream");
        }
    }

    static RequestException duplicateChannel(String channel, String label) {
        return new RequestException(
                ErrorCode.DUPLICATE_SUB, "channel \"" + channel + "\" is joined as \"" + label + "\" already");
    }

    static RequestException duplicate(String label) {
        return new RequestException(
                ErrorCode.DUPLICATE_SUB, "\"" + label + "\" names another subscription of this stream");
    }
}
