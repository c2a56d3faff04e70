package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import sluice.core.error.ErrorCode;
import sluice.core.event.Delivery;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.shape.Operation;
import sluice.core.stream.CloseReason;
import sluice.core.stream.FrameSink;
import sluice.core.stream.HeldCommit;
import sluice.core.stream.HeldEvent;
import sluice.core.stream.StreamState;
import sluice.core.stream.Subscription;
import sluice.core.transaction.Change;

/// What streams hold back, from the answer that decides it to the stream's queue. Owned by the engine's thread.
///
/// Commits leave in order, each whole: when all of it is decided, under the rules that hold by then, and when the
/// queue has room for it.
final class HeldRelease {
    private final CommitDispatch.Host host;
    private final FrameSink sink;
    private final EngineSettings settings;
    private final WithheldTeller withheld;
    private final TransactionEnds ends;
    private final Probes probes;
    private final EventEncoder encoder;
    private final RowJudge judge;
    private Instant now = Instant.EPOCH;

    /// What is told, and whom.
    ///
    /// @param cut told of changes that were too large
    record Ports(
            FrameSink sink,
            WithheldTeller withheld,
            TransactionEnds ends,
            Probes probes,
            Consumer<RelationDefinition> cut) {}

    HeldRelease(CommitDispatch.Host host, Ports ports, EngineSettings settings, RowJudge judge) {
        this.host = host;
        this.sink = ports.sink();
        this.settings = settings;
        this.withheld = ports.withheld();
        this.ends = ports.ends();
        this.probes = ports.probes();
        this.encoder = new EventEncoder(settings.changeBytesMax(), ports.cut());
        this.judge = judge;
    }

    /// Gives the stream what is decided of what it waited for, in order, as far as its queue has room.
    void release(StreamState stream, Instant at) {
        now = at;
        ArrayDeque<HeldCommit> held = stream.held();
        while (stream.isOpen() && !held.isEmpty() && held.getFirst().isDecided()) {
            if (!stream.identity().expiresAt().isAfter(now)) {
                host.closeStream(stream, CloseReason.TOKEN_EXPIRED, ErrorCode.TOKEN_EXPIRED, "the token has expired");
                return;
            }
            HeldCommit commit = held.getFirst();
            if (!stillHolds(commit)) {
                return;
            }
            boolean empty = stream.queuedFrames() == 0;
            if (!empty
                    && !stream.hasRoom(
                            commit.size(),
                            commit.encodedBytesEstimate(),
                            settings.queueEventsMax(),
                            settings.queueBytesMax())) {
                stream.handle().tellWhenDrained();
                return;
            }
            held.removeFirst();
            stream.addHeld(-commit.size(), -commit.weightBytes());
            write(stream, commit);
            ends.end(commit.recipient());
        }
    }

    /// Judges again what was decided under a rule that has changed since (image and rights of one moment).
    ///
    /// @return whether everything is decided still
    private boolean stillHolds(HeldCommit commit) {
        for (HeldEvent event : commit.events()) {
            if (event.delivery() != null && !event.isCurrent()) {
                rejudge(commit, event, now);
            }
        }
        return commit.isDecided();
    }

    /// Judges an event again, e.g. under its subscription's new rule.
    void rejudge(HeldCommit commit, HeldEvent event, Instant at) {
        now = at;
        Subscription subscription = event.subscription();
        if (event.delivery() == Delivery.TRUNCATE && subscription.state() != Subscription.State.ENDED) {
            event.decide(Delivery.TRUNCATE);
            return;
        }
        TableState subscribed = host.table(subscription.relationOid());
        switch (subscription.state()) {
            case ENDED -> event.drop();
            case RESOLVING -> event.waitAgain();
            case ACTIVE -> {
                if (subscribed == null) {
                    event.drop();
                    return;
                }
                // the tuple is read by the definition it came under, whatever the catalog says by now
                event.map(subscribed.mapping(event.change().relation(), commit.commitLsn()));
                judge.beginCommit(commit.commitLsn(), commit.commitTime());
                judge.beginChange(subscribed.relation(), event.change(), event.mapping());
                switch (judge.judge(subscription, event.change())) {
                    case NOTHING -> event.drop();
                    case SEND -> {
                        noteOldKey(commit, subscription, subscribed);
                        event.decide(judge.delivery());
                    }
                    case WITHHOLD -> {
                        event.drop();
                        withheld.withhold(
                                subscription, ChangedRow.operation(event.change()), commit.commitLsn(), subscribed);
                    }
                    case PROBE -> {
                        noteOldKey(commit, subscription, subscribed);
                        event.waitAgain();
                        Probes.Commit about =
                                new Probes.Commit(commit.xid(), commit.commitLsn(), now.plus(settings.stampWait()));
                        if (!probes.ask(event, judge.probedForm(), subscribed, about, now)) {
                            event.drop();
                            withheld.withhold(
                                    subscription, ChangedRow.operation(event.change()), commit.commitLsn(), subscribed);
                        }
                    }
                }
            }
        }
    }

    private void noteOldKey(HeldCommit commit, Subscription subscription, TableState table) {
        if (judge.oldKeyWithheld()) {
            withheld.withhold(subscription, Operation.DELETE, commit.commitLsn(), table);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the encoder is begun once for each change object, equal or not
    private void write(StreamState stream, HeldCommit commit) {
        encoder.beginCommit(commit.commitLsn(), commit.commitTime());
        Change encoded = null;
        for (HeldEvent event : commit.events()) {
            Delivery form = event.delivery();
            Subscription subscription = event.subscription();
            if (form == null || subscription.state() == Subscription.State.ENDED) {
                continue;
            }
            ends.given(subscription.recipient(), commit.xid(), commit.commitLsn(), commit.commitTime());
            if (form == Delivery.TRUNCATE && !subscription.operations().include(Operation.TRUNCATE)) {
                CommitDispatch.warnOfTruncate(sink, subscription, event.change());
                continue;
            }
            EventBody shared = event.body();
            if (shared == null && encoded != event.change()) {
                encoder.beginChange(event.change(), event.mapping());
                encoded = event.change();
            }
            EventBody body = shared != null ? shared : CommitDispatch.body(encoder, subscription, form);
            stream.given(body.weightBytes());
            sink.change(stream.handle(), subscription.tag(), subscription.nextSeq(), body);
        }
        for (HeldCommit.HeldBroadcast broadcast : commit.broadcasts()) {
            if (!broadcast.to().isEnded()) {
                stream.given(broadcast.event().weightBytes());
                ends.given(stream, commit.xid(), commit.commitLsn(), commit.commitTime());
                sink.passing(stream.handle(), broadcast.to().tag(), broadcast.event());
            }
        }
    }

    /// Forgets what a closed stream held.
    static void forget(StreamState stream) {
        for (HeldCommit commit : stream.held()) {
            for (HeldEvent event : commit.events()) {
                event.drop();
            }
        }
        stream.held().clear();
    }
}
