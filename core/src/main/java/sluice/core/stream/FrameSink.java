package sluice.core.stream;

import java.time.Instant;
import java.util.List;
import sluice.core.error.ErrorCode;
import sluice.core.event.EventBody;
import sluice.core.event.PassingEvent;

/// Where the engine puts what streams receive. Called on the engine's thread only; must never wait.
///
/// Between two calls of {@link #endCommit} everything given with {@link #change} belongs to one commit. Each shard
/// gets one batch per commit. The engine gives a stream no more than its queue has room for, which it knows from what
/// the handle says was taken; what does not fit whole it takes back with {@link #retract} and gives later.
public interface FrameSink {
    /// Answers the opening request: 200, headers and this first frame.
    void open(StreamHandle stream, byte[] readyFrame);

    /// Answers the opening request with a refusal instead.
    void refuse(StreamHandle stream, ErrorCode code, String message);

    /// One change for one subscription.
    ///
    /// @param seq the subscription's own counter, from 1
    void change(StreamHandle stream, SubscriptionTag tag, long seq, EventBody body);

    /// Takes back the changes and the broadcasts that the open commit gave the stream; whole frames stay.
    void retract(StreamHandle stream);

    /// A broadcast or presence, after what was given before it. Handed over with {@link #endCommit}. What is given
    /// inside a commit is part of it.
    void passing(StreamHandle stream, SubscriptionTag tag, PassingEvent event);

    /// A warning, an error that ends one subscription, or any other whole frame, after what was given before it.
    void frame(StreamHandle stream, byte[] frame);

    /// One whole frame for many streams, at once: each shard gets one batch of it, and an open commit is not waited
    /// for. So it may come before changes that were given earlier, and must mean the same there.
    void announce(List<StreamHandle> streams, byte[] frame);

    /// Ends the stream after this last frame, for which room is always reserved.
    ///
    /// A close between {@link #change} and {@link #endCommit} drops what the open commit gave the stream: no commit
    /// is ever torn. The engine expects no report of a closing it asked for.
    void close(StreamHandle stream, CloseReason reason, byte[] lastFrame);

    /// The stream's token is another one by now, and ends then.
    void expires(StreamHandle stream, Instant at);

    /// The commit is complete: hand each shard its batch.
    void endCommit();
}
