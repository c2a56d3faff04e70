package sluice.server.http;

import java.time.Duration;
import java.util.random.RandomGenerator;
import sluice.core.error.ErrorCode;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;

/// The last event of a stream the HTTP side ends by itself.
final class ClosingFrames {
    private ClosingFrames() {}

    static byte[] lagging() {
        return FrameEncoder.frame(new StreamEvent.Failure(
                null,
                ErrorCode.STREAM_LAGGING,
                "the client did not keep up with its changes",
                StreamEvent.Action.RESNAPSHOT,
                null));
    }

    static byte[] expired() {
        return FrameEncoder.frame(
                new StreamEvent.Failure(null, ErrorCode.TOKEN_EXPIRED, "the token has expired", null, null));
    }

    /// Tells the client to come back at a moment of its own within the spread, so that not all come back at once.
    static byte[] shutdown(Duration spread, RandomGenerator random) {
        long millis = spread.toMillis();
        Long delay = millis <= 0 ? null : random.nextLong(millis);
        return FrameEncoder.frame(
                new StreamEvent.Failure(null, ErrorCode.SERVER_SHUTDOWN, "the server is stopping", null, delay));
    }
}
