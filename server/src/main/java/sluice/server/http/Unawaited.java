package sluice.server.http;

import io.netty.channel.Channel;
import java.util.concurrent.Future;

/// Starts what nobody waits for: when it fails the connection ends, and that is noticed where connections end.
final class Unawaited {
    private Unawaited() {}

    static void close(Channel channel) {
        start(channel.close());
    }

    /// @param future already under way
    static void start(Future<?> future) {
        // nothing to do: the call says that the outcome was thought of
    }
}
