package sluice.core.dispatch;

import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.channel.HookQuestion;
import sluice.core.diagnostics.Census;
import sluice.core.expression.Fold;
import sluice.core.expression.RowImage;
import sluice.core.session.Identity;
import sluice.core.shape.Filter;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.transaction.KeptCommit;
import sluice.core.wal.Lsn;

/// What the engine wants done outside. Carried out in order, never waited for; answers come back as inputs.
public sealed interface Effect {
    record LoadCatalog(long requestId, CatalogScope scope) implements Effect {}

    record PollRights() implements Effect {}

    /// Evaluate these under the caller's role and claims.
    record AskFolds(long questionId, Identity caller, List<Fold> folds) implements Effect {
        public AskFolds {
            folds = List.copyOf(folds);
        }
    }

    /// May the caller see this row?
    ///
    /// @param catalog by which the relation's types are named
    /// @param sql the predicate over the table's bare name
    record Probe(long probeId, Identity caller, CatalogImage catalog, Relation relation, RowImage image, String sql)
            implements Effect {}

    /// Does PostgreSQL decide as was decided in process? Nothing waits for the answer, which comes as {@link
    /// Input.CrossCheckAnswer} under the probe's id.
    record CrossCheck(Probe probe) implements Effect {}

    /// Read the rows of a shape as the caller sees them now. Answered by {@link Input.SnapshotRead}.
    ///
    /// @param catalog by which types and operators are named
    record ReadSnapshot(
            long joinId, Identity caller, CatalogImage catalog, Relation relation, Projection projection, Filter filter)
            implements Effect {}

    /// The next rows of a spool: at most so many, and no more bytes than this unless the first row
    /// alone is larger. Answered by {@link Input.SnapshotRows}, or by a failed
    /// {@link Input.SnapshotRead}; not asked again before the answer.
    record TakeRows(long joinId, SnapshotSpool spool, int rowsMax, long bytesMax) implements Effect {}

    /// The spool is not needed any more, read to its end or not. Safe to say twice, and while rows
    /// are being taken.
    record DropSpool(SnapshotSpool spool) implements Effect {}

    /// Read one piece of a spilled commit; answered by {@link Input.PieceRead}, whatever comes of it.
    record ReadPiece(long readId, KeptCommit kept, int piece) implements Effect {}

    /// Which rows of the table did a spilled commit change? Reads all that it has of the table; answered by {@link
    /// Input.KeysRead}, whatever comes of it. One at a time.
    ///
    /// @param most more than so many are not of use
    record ReadKeys(long readId, KeptCommit kept, Relation relation, int most) implements Effect {}

    /// Answers wait for the log to pass them, and nobody commits: have it move. Nothing comes back.
    record MoveLog() implements Effect {}

    /// The spilled commit is not needed any more. Pieces of it may still be being read.
    record DropKept(KeptCommit kept) implements Effect {}

    /// Does the caller see anything at all by a rule that reads nothing of a row? Answered by {@link
    /// Input.LeaseAnswer} under the probe's id.
    record LeaseCheck(Probe probe) implements Effect {}

    /// The catalog the engine goes by from here on, for whoever nets row images by its keys.
    record UseCatalog(CatalogImage catalog) implements Effect {}

    /// Everything up to here may be confirmed to PostgreSQL.
    record Confirm(Lsn lsn) implements Effect {}

    /// An answer to {@link Input.Count}.
    record Counted(long requestId, Census census) implements Effect {}

    /// Ask a hook; answered by {@link Input.HookAnswered} in bounded time.
    record AskHook(long questionId, HookQuestion question) implements Effect {}

    /// An answer to {@link Input.Control} or {@link Input.DropShapes}; exactly one for each.
    record Answered(long requestId, ControlAnswer answer) implements Effect {}

    record Log(Notice notice) implements Effect {}
}
