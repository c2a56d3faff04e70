package sluice.core.dispatch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.event.FrameEncoder;
import sluice.core.event.StreamEvent;
import sluice.core.stream.FrameSink;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState;

/// Tells every stream when changes begin to arrive late and when they arrive on time again, so that a client can tell
/// late changes from none.
///
/// A stream whose queue is full is told as soon as it has room, of what is true then: at most one such event waits
/// for a stream, and none ends one. Owned by the engine's thread.
final class LagTeller {
    private final FrameSink sink;
    private final EngineSettings settings;
    private final Collection<StreamState> streams;

    /// No more than there are streams: whoever is closed leaves at the next tick.
    private final Set<StreamState> toTell = new LinkedHashSet<>();

    private Duration lag = Duration.ZERO;

    /// @param streams the open ones, as they are whenever they are looked at
    LagTeller(FrameSink sink, EngineSettings settings, Collection<StreamState> streams) {
        this.sink = sink;
        this.settings = settings;
        this.streams = streams;
    }

    /// @param now zero when changes arrive on time
    void is(Duration now) {
        boolean turned = lag.isZero() != now.isZero();
        lag = now;
        if (turned) {
            toTell.addAll(streams);
            tell();
        }
    }

    void tick() {
        if (!toTell.isEmpty()) {
            tell();
        }
    }

    /// How late changes arrive; null while they arrive on time.
    @Nullable
    Long millis() {
        return lag.isZero() ? null : lag.toMillis();
    }

    private void tell() {
        byte[] frame = FrameEncoder.frame(new StreamEvent.Delay(lag.toMillis()));
        List<StreamHandle> told = new ArrayList<>();
        for (Iterator<StreamState> waiting = toTell.iterator(); waiting.hasNext(); ) {
            StreamState stream = waiting.next();
            if (!stream.isOpen()) {
                waiting.remove();
            } else if (stream.hasRoom(1, frame.length, settings.queueEventsMax(), settings.queueBytesMax())) {
                stream.given(frame.length);
                told.add(stream.handle());
                waiting.remove();
            }
        }
        if (!told.isEmpty()) {
            sink.announce(told, frame);
        }
    }
}
