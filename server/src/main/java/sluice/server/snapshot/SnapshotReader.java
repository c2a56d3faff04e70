package sluice.server.snapshot;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Notice;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotOutcome.Truncated;
import sluice.core.snapshot.SnapshotSpool;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.query.SnapshotException;
import sluice.server.postgres.query.SnapshotException.Reason;
import sluice.server.postgres.query.SnapshotQueries;
import sluice.server.runtime.Snapshots;

/// Reads snapshots into spools, each row encoded as an insert of it would be. Safe for any thread.
public final class SnapshotReader implements Snapshots {
    /// Readings of which one has to find rights at its end as they were when it began.
    private static final int READINGS_MAX = 3;

    private final SnapshotQueries queries;
    private final SpoolStore spools;
    private final int changeBytesMax;
    private final Metrics metrics;
    private final Consumer<Notice> log;

    /// What may follow a reading during which rights moved.
    private enum Further {
        READINGS,
        NONE
    }

    /// @param changeBytesMax text of a row above which only its key is sent
    public SnapshotReader(
            SnapshotQueries queries, SpoolStore spools, int changeBytesMax, Metrics metrics, Consumer<Notice> log) {
        this.queries = queries;
        this.spools = spools;
        this.changeBytesMax = changeBytesMax;
        this.metrics = metrics;
        this.log = log;
    }

    @Override
    public SnapshotOutcome read(Effect.ReadSnapshot request) {
        long start = System.nanoTime();
        Relation relation = request.relation();
        SnapshotOutcome outcome = null;
        for (int reading = 1; outcome == null; reading++) {
            outcome = read(request, reading < READINGS_MAX ? Further.READINGS : Further.NONE);
        }
        metrics.snapshotTook(relation.schema(), relation.name(), (System.nanoTime() - start) / 1e9);
        return outcome;
    }

    /// @return null when rights moved meanwhile and it may be read again
    private @Nullable SnapshotOutcome read(Effect.ReadSnapshot request, Further further) {
        Relation relation = request.relation();
        Spool spool = spools.create();
        SnapshotOutcome outcome = null;
        try {
            outcome = read(request, spool);
        } catch (SnapshotException e) {
            if (e.reason() == Reason.RIGHTS_MOVED && further == Further.READINGS) {
                return null;
            }
            outcome = failed(relation, e.reason(), String.valueOf(e.getMessage()));
        } catch (SpoolException e) {
            Reason reason = e.kind() == SpoolException.Kind.FULL ? Reason.SPOOL_FULL : Reason.SPOOL_FAILED;
            outcome = failed(relation, reason, String.valueOf(e.getMessage()));
        } finally {
            if (!(outcome instanceof SnapshotOutcome.Read)) {
                spool.drop();
            }
        }
        return outcome;
    }

    private SnapshotOutcome read(Effect.ReadSnapshot request, Spool spool) {
        RowEncoder encoder = new RowEncoder(request.relation(), request.projection(), spool);
        SnapshotQueries.Extent extent = queries.read(
                new SnapshotQueries.Question(
                        request.caller(),
                        request.catalog(),
                        request.relation(),
                        request.projection(),
                        request.filter()),
                encoder);
        spool.finish();
        long rows = spool.rows();
        metrics.snapshotRows(request.relation().schema(), request.relation().name(), rows);
        Truncated truncated = switch (extent) {
            case COMPLETE -> Truncated.COMPLETE;
            case TRUNCATED -> Truncated.TRUNCATED;
        };
        return new SnapshotOutcome.Read(encoder.stamp(), rows, truncated, spool);
    }

    private SnapshotOutcome.Failed failed(Relation relation, Reason reason, String message) {
        log.accept(new Notice(
                Notice.Level.WARN,
                "a snapshot failed",
                List.of("table", relation.qualifiedName(), "reason", reason.word(), "detail", message)));
        return new SnapshotOutcome.Failed(reason.word(), message);
    }

    @Override
    public List<EventBody> take(SnapshotSpool spool, int rowsMax, long bytesMax) {
        return ours(spool).take(rowsMax, bytesMax);
    }

    @Override
    public void drop(SnapshotSpool spool) {
        ours(spool).drop();
    }

    private static Spool ours(SnapshotSpool spool) {
        if (spool instanceof Spool ours) {
            return ours;
        }
        throw new IllegalArgumentException("a spool of somebody else");
    }

    /// One reading's; its thread's own.
    private final class RowEncoder implements SnapshotQueries.Taker {
        private final EventEncoder encoder = new EventEncoder(changeBytesMax);
        private final Relation relation;
        private final Projection projection;
        private final Spool spool;
        private @Nullable Stamp stamp;

        RowEncoder(Relation relation, Projection projection, Spool spool) {
            this.relation = relation;
            this.projection = projection;
            this.spool = spool;
        }

        @Override
        public void begin(Stamp taken) {
            stamp = taken;
            List<Integer> selected =
                    projection.entries().stream().map(Projection.Entry::attnum).toList();
            encoder.beginSnapshot(relation, taken.insertLsn(), ColumnMapping.ofSelected(selected));
        }

        @Override
        public void row(Tuple row, SnapshotQueries.RowPart part) {
            EventEncoder.RowPart sent = switch (part) {
                case WHOLE -> EventEncoder.RowPart.WHOLE;
                case KEY -> EventEncoder.RowPart.KEY;
            };
            spool.add(encoder.snapshotRow(row, sent, projection));
        }

        Stamp stamp() {
            Stamp taken = stamp;
            if (taken == null) {
                throw new IllegalStateException("rows without a snapshot");
            }
            return taken;
        }
    }
}
