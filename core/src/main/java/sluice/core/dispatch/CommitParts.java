package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;
import sluice.core.resume.BufferedCommit;
import sluice.core.stream.ChannelSubscription;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.HeldEvent;
import sluice.core.stream.Recipient;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;

/// What one commit gives each stream: all of it, or nothing for now. Owned by the engine's thread.
///
/// A part that does not fit in its stream's queue is taken back whole, and the stream is fed from the buffer from
/// this commit on. What comes from the buffer is given no more than there is room for, so it always fits.
final class CommitParts {
    /// What a commit costs a stream besides its bodies.
    private static final int ORDINARY_EVENT_BYTES = 256;

    /// Whether the commit is dispatched to everybody, or given to one who has not had it.
    enum Origin {
        LOG,
        BUFFER
    }

    private final CommitDispatch.Host host;
    private final FrameSink sink;
    private final TransactionEnds ends;
    private final EngineSettings settings;
    private final List<StreamState> holding = new ArrayList<>();
    private BufferedCommit commit;
    private Origin origin = Origin.LOG;
    private long serial;

    CommitParts(CommitDispatch.Host host, FrameSink sink, TransactionEnds ends, EngineSettings settings) {
        this.host = host;
        this.sink = sink;
        this.ends = ends;
        this.settings = settings;
        this.commit = CommitDispatch.NONE;
    }

    void begin(BufferedCommit next, Origin from) {
        commit = next;
        origin = from;
        serial++;
    }

    /// Streams that have something of the commit waiting; forgets them.
    List<StreamState> takeHolding() {
        List<StreamState> taken = List.copyOf(holding);
        holding.clear();
        return taken;
    }

    void give(Subscription subscription, EventBody body) {
        StreamState stream = subscription.stream();
        stream.charge(serial, body.weightBytes());
        if (origin == Origin.LOG && !hasRoom(stream, body.weightBytes())) {
            overflow(stream);
            return;
        }
        stream.givenOfCommit(body.weightBytes());
        ends.given(subscription.recipient(), commit.xid(), commit.lsn(), commit.time());
        sink.change(stream.handle(), subscription.tag(), subscription.nextSeq(serial), body);
    }

    /// Keeps an event until the commit's part is decided and may go. The event is dropped when the part does
    /// not fit.
    void hold(StreamState stream, HeldEvent event) {
        if (stream.charge(serial, ORDINARY_EVENT_BYTES)) {
            held(event.subscription().recipient());
            holding.add(stream);
        }
        if (origin == Origin.LOG && !holdsMore(stream, event.weightBytes())) {
            event.drop();
            overflow(stream);
            return;
        }
        stream.held().getLast().events().add(event);
        stream.addHeld(1, event.weightBytes());
    }

    /// What the commit says, after its rows. It is part of the commit's whole, as they are.
    ///
    /// @param now a stream whose token has expired by then hears nothing
    void broadcast(ChannelSubscription to, PassingEvent event, Instant now) {
        StreamState stream = to.stream();
        boolean comesFromBuffer = origin == Origin.LOG && stream.isBehind();
        if (comesFromBuffer
                || to.isEnded()
                || !stream.isOpen()
                || !stream.identity().expiresAt().isAfter(now)) {
            return;
        }
        stream.charge(serial, event.weightBytes());
        boolean waits = !stream.held().isEmpty();
        if (origin == Origin.LOG
                && !(waits ? holdsMore(stream, event.weightBytes()) : hasRoom(stream, event.weightBytes()))) {
            overflow(stream);
        } else if (waits) {
            HeldCommit last = stream.held().getLast();
            if (last.serial() != serial) {
                last = held(stream);
            }
            last.broadcasts().add(new HeldCommit.HeldBroadcast(to, event));
            stream.addHeld(1, event.weightBytes());
        } else {
            stream.givenOfCommit(event.weightBytes());
            ends.given(stream, commit.xid(), commit.lsn(), commit.time());
            sink.passing(stream.handle(), to.tag(), event);
        }
    }

    private HeldCommit held(Recipient recipient) {
        HeldCommit begun = new HeldCommit(serial, commit.xid(), commit.lsn(), commit.time(), recipient);
        recipient.stream().held().addLast(begun);
        return begun;
    }

    private boolean hasRoom(StreamState stream, int bytes) {
        return stream.hasRoom(1, bytes, settings.queueEventsMax(), settings.queueBytesMax());
    }

    private boolean holdsMore(StreamState stream, long bytes) {
        return stream.heldEvents() < settings.queueEventsMax()
                && stream.heldBytes() + bytes <= settings.queueBytesMax();
    }

    /// The commit does not fit whole, so nothing of it is given now.
    private void overflow(StreamState stream) {
        takeBack(stream);
        if (!host.fallBehind(stream, commit.number())) {
            host.closeStream(
                    stream,
                    CloseReason.STREAM_LAGGING,
                    ErrorCode.STREAM_LAGGING,
                    "a commit does not fit in the stream's queue");
        }
    }

    private void takeBack(StreamState stream) {
        sink.retract(stream.handle());
        stream.retracted();
        ends.takenBack(stream, commit.lsn());
        stream.subscriptions().forEach(subscription -> subscription.rewind(serial));
        HeldCommit last = stream.held().peekLast();
        if (last != null && last.serial() == serial) {
            stream.held().removeLast();
            stream.addHeld(-last.size(), -last.weightBytes());
            last.events().forEach(HeldEvent::drop);
        }
    }
}
