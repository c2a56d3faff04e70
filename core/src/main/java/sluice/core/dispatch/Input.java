package sluice.core.dispatch;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Stamp;
import sluice.core.channel.HookAnswer;
import sluice.core.event.EventBody;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamHandle;
import sluice.core.stream.StreamState.Framing;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptKeys;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// Everything that can happen to the engine. Time comes beside each input, never out of a clock.
public sealed interface Input {
    /// The slot is being streamed from this position: every later commit reaches the engine.
    ///
    /// @param incarnation names this reading of the slot: no other one, of any process, has the same
    record Replicating(Lsn position, String incarnation) implements Input {}

    /// The connection to the log was lost. It comes back where it was, or {@link WalEvent.TimelineLeft} says
    /// otherwise.
    record Interrupted() implements Input {}

    /// The stream's queue is empty; asked for with {@link StreamHandle#tellWhenDrained}.
    record Drained(StreamHandle stream) implements Input {}

    /// The next event of the log. Given only while {@link Engine#acceptsWal} says so.
    record Wal(WalEvent event) implements Input {}

    /// An answer to {@link Effect.LoadCatalog}.
    ///
    /// @param image null when the load failed
    record CatalogAnswer(long requestId, @Nullable CatalogImage image) implements Input {}

    /// An answer to {@link Effect.PollRights}.
    ///
    /// @param fingerprint null when the poll failed
    /// @param stamp when it was true; null when the poll failed
    record RightsAnswer(
            @Nullable String fingerprint, @Nullable Stamp stamp) implements Input {
        /// An answer of which nothing more is known.
        public RightsAnswer(@Nullable String fingerprint) {
            this(fingerprint, null);
        }
    }

    /// An answer to {@link Effect.AskFolds}.
    ///
    /// @param answers in the order asked; null when the question could not be put
    record FoldsAnswer(long questionId, @Nullable List<FoldAnswer> answers) implements Input {
        public FoldsAnswer {
            answers = answers == null ? null : List.copyOf(answers);
        }
    }

    /// An answer to {@link Effect.Probe}.
    record ProbeAnswer(long probeId, ProbeOutcome outcome) implements Input {}

    /// An answer to {@link Effect.CrossCheck}.
    record CrossCheckAnswer(long checkId, ProbeOutcome outcome) implements Input {}

    /// An answer to {@link Effect.ReadSnapshot}, or that a spool of it cannot be read any more.
    record SnapshotRead(long joinId, SnapshotOutcome outcome) implements Input {}

    /// An answer to {@link Effect.ReadPiece}.
    ///
    /// @param changes in delivery order; null when they could not be read
    record PieceRead(long readId, @Nullable List<Change> changes) implements Input {}

    /// An answer to {@link Effect.ReadKeys}.
    ///
    /// @param keys null when they could not be read, or are too many
    record KeysRead(long readId, @Nullable KeptKeys keys) implements Input {}

    /// An answer to {@link Effect.TakeRows}.
    ///
    /// @param rows in order; empty once the spool has no more
    record SnapshotRows(long joinId, List<EventBody> rows) implements Input {
        public SnapshotRows {
            rows = List.copyOf(rows);
        }
    }

    /// An answer to {@link Effect.LeaseCheck}.
    record LeaseAnswer(long checkId, ProbeOutcome outcome) implements Input {}

    /// A verified caller wants a stream.
    ///
    /// @param framing whether the stream is told where transactions end
    /// @param requestName the client's request by its own name, for whoever is asked about it
    record Open(
            StreamHandle stream,
            Identity identity,
            List<SubscriptionRequest> requests,
            Framing framing,
            @Nullable String requestName)
            implements Input {
        public Open {
            requests = List.copyOf(requests);
        }

        /// A stream that is not told where transactions end.
        public Open(StreamHandle stream, Identity identity, List<SubscriptionRequest> requests) {
            this(stream, identity, requests, Framing.NONE, null);
        }
    }

    /// A verified caller asks something of an open stream. Answered by {@link Effect.Answered}, always.
    ///
    /// @param streamId as the client named it
    /// @param requestName the client's request by its own name, for whoever is asked about it
    record Control(
            long requestId,
            String streamId,
            Identity caller,
            ControlRequest request,
            @Nullable String requestName) implements Input {
        public Control(long requestId, String streamId, Identity caller, ControlRequest request) {
            this(requestId, streamId, caller, request, null);
        }
    }

    /// An answer to {@link Effect.AskHook}.
    ///
    /// @param random from 0 to 1, drawn for this answer
    record HookAnswered(long questionId, HookAnswer answer, double random) implements Input {}

    /// An operator drops shapes. Answered by {@link Effect.Answered}.
    record DropShapes(long requestId, ShapeSelection selection) implements Input {}

    /// The stream ended on the server's side or by the client; the engine asked for nothing.
    record Closed(StreamHandle stream, CloseReason reason) implements Input {}

    /// Somebody asks what is open; answered by {@link Effect.Counted}. Looks at every subscription, so whoever asks
    /// must not ask often.
    record Count(long requestId) implements Input {}

    /// How late changes arrive, while they do; zero once they arrive on time again.
    record Lagging(Duration lag) implements Input {}

    /// Time has passed; given at least every 100 ms.
    record Tick() implements Input {}

    /// What came of a probe.
    sealed interface ProbeOutcome {
        record Visible(Stamp stamp) implements ProbeOutcome {}

        record Hidden(Stamp stamp) implements ProbeOutcome {}

        /// The policy raised, or the query timed out: never a yes.
        record Raised(Stamp stamp, String sqlState) implements ProbeOutcome {}

        /// The database could not be reached: never a yes.
        record Failed(String sqlState) implements ProbeOutcome {}
    }
}
