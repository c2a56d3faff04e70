package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.RecordedHistory.Version;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.event.EventEncoder;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.value.Truth;

/// What PostgreSQL answered, at the moment SQL shows.
final class RecordedServer {
    private static final Pattern LITERAL = Pattern.compile("pg_catalog\\.format\\('%s', '([^']*)'::.*");

    private static final int KEY = 1;

    private RecordedHistory history;
    private final IntSupplier shown;
    private final Random random;

    RecordedServer(RecordedHistory history, IntSupplier shown, Random random) {
        this.history = history;
        this.shown = shown;
        this.random = random;
    }

    /// Another server answers.
    void failedOver(RecordedHistory next) {
        history = next;
    }

    Input answer(Effect effect) {
        boolean fails = random.nextInt(12) == 0;
        int moment = shown.getAsInt();
        Stamp stamp = history.stamp(moment);
        return switch (effect) {
            case Effect.LoadCatalog(var id, var scope) ->
                new Input.CatalogAnswer(id, fails ? null : history.catalog(moment, scope));
            case Effect.PollRights() ->
                fails ? new Input.RightsAnswer(null) : new Input.RightsAnswer(history.rights(moment), stamp);
            case Effect.AskFolds(var id, var caller, var folds) ->
                new Input.FoldsAnswer(
                        id,
                        fails
                                ? null
                                : folds.stream().map(fold -> fold(caller, fold)).toList());
            case Effect.Probe probe -> new Input.ProbeAnswer(probe.probeId(), probe(probe, moment, fails));
            case Effect.CrossCheck(var probe) ->
                new Input.CrossCheckAnswer(
                        probe.probeId(), probe(probe, moment, fails || version(probe, moment) == null));
            case Effect.LeaseCheck(var probe) ->
                new Input.LeaseAnswer(
                        probe.probeId(),
                        fails ? new Input.ProbeOutcome.Failed("08006") : new Input.ProbeOutcome.Visible(stamp));
            case Effect.ReadSnapshot read -> new Input.SnapshotRead(read.joinId(), read(read, moment, fails));
            case Effect.TakeRows take -> SimServer.take(take, random, fails);
            case Effect.ReadPiece read -> SimServer.read(read, random, fails);
            case Effect.ReadKeys read -> SimServer.read(read, random, fails);
            case Effect.DropKept _,
                    Effect.MoveLog _,
                    Effect.DropSpool _,
                    Effect.UseCatalog _,
                    Effect.Confirm _,
                    Effect.Counted _,
                    Effect.AskHook _,
                    Effect.Answered _,
                    Effect.Log _ -> throw new IllegalArgumentException(effect.toString());
        };
    }

    private FoldAnswer fold(Identity identity, Fold fold) {
        FoldAnswer answer = history.fold(caller(identity), fold.sql());
        if (answer != null) {
            return answer;
        }
        Matcher literal = LITERAL.matcher(fold.sql());
        if (!literal.matches()) {
            throw new AssertionError("PostgreSQL was not asked when this was recorded: " + fold.sql());
        }
        return new FoldAnswer.Value(literal.group(1));
    }

    private static Caller caller(Identity identity) {
        return Caller.of(identity.claims(), identity.role());
    }

    private Input.ProbeOutcome probe(Effect.Probe probe, int moment, boolean fails) {
        if (fails) {
            return new Input.ProbeOutcome.Failed("08006");
        }
        Version version = version(probe, moment);
        Stamp stamp = history.stamp(moment);
        // of an image that is not there any more the answer is not used
        return version != null
                        && history.sees(
                                caller(probe.caller()),
                                moment,
                                probe.relation().name(),
                                version.row().id())
                ? new Input.ProbeOutcome.Visible(stamp)
                : new Input.ProbeOutcome.Hidden(stamp);
    }

    /// The row that is asked about, when it is there as it is asked about; a value that the log did not carry
    /// is the one the row has.
    private @Nullable Version version(Effect.Probe probe, int moment) {
        RowImage image = probe.image();
        if (image.kind(KEY) != Tuple.Kind.TEXT) {
            return null;
        }
        int id = image.mapping().position(KEY);
        Version version = history.rows(moment, probe.relation().name())
                .get(Integer.parseInt(image.tuple().text(id)));
        if (version == null) {
            return null;
        }
        for (Column column : probe.relation().columns()) {
            String text = text(version, moment, probe.relation().name(), column);
            boolean same = switch (image.kind(column.attnum())) {
                case TEXT ->
                    image.tuple()
                            .text(image.mapping().position(column.attnum()))
                            .equals(text);
                case NULL -> text == null;
                case UNCHANGED -> true;
                case NOT_SENT -> false;
            };
            if (!same) {
                return null;
            }
        }
        return version;
    }

    /// The value of a column that there may not be by then.
    private @Nullable String text(Version version, int moment, String table, Column column) {
        Column then = history.relation(moment, table).column(column.attnum());
        return then == null
                ? null
                : version.row()
                        .texts()
                        .get(history.relation(moment, table).columns().indexOf(then));
    }

    /// By their names, as a query names them.
    private Tuple tuple(Version version, int moment, Relation relation) {
        List<@Nullable String> texts = new ArrayList<>();
        for (Column column : relation.columns()) {
            Column then = history.relation(moment, relation.name()).column(column.name());
            texts.add(then == null ? null : text(version, moment, relation.name(), then));
        }
        return World.tuple(texts.toArray(new @Nullable String[0]));
    }

    private SnapshotOutcome read(Effect.ReadSnapshot read, int moment, boolean fails) {
        String table = read.relation().name();
        Caller caller = caller(read.caller());
        List<String> granted = history.view(moment, table, caller).columns();
        for (Projection.Entry entry : read.projection().entries()) {
            Column column = read.relation().column(entry.attnum());
            fails |= column == null || !granted.contains(column.name());
        }
        for (Column column : read.filter().columns()) {
            fails |= history.relation(moment, table).column(column.name()) == null;
        }
        if (fails) {
            return new SnapshotOutcome.Failed("query", "the rows could not be read");
        }
        SimServer.Spool spool = new SimServer.Spool(history.stamp(moment));
        ColumnMapping mapping = ColumnMapping.of(definition(read.relation()), read.relation());
        EventEncoder encoder = new EventEncoder(1_000_000);
        encoder.beginSnapshot(read.relation(), spool.stamp.insertLsn(), mapping);
        for (Version version : history.rows(moment, table).values()) {
            Tuple tuple = tuple(version, moment, read.relation());
            if (history.sees(caller, moment, table, version.row().id())
                    && read.filter().predicate().test(new RowImage(tuple, mapping, Instant.EPOCH)) == Truth.TRUE) {
                spool.rows.add(encoder.snapshotRow(tuple, EventEncoder.RowPart.WHOLE, read.projection()));
            }
        }
        return new SnapshotOutcome.Read(spool.stamp, spool.rows.size(), SnapshotOutcome.Truncated.COMPLETE, spool);
    }

    private static RelationDefinition definition(Relation relation) {
        boolean full = relation.identity() instanceof ReplicaIdentity.Full;
        return new RelationDefinition(
                relation.oid(),
                relation.schema(),
                relation.name(),
                full ? 'f' : 'd',
                relation.columns().stream()
                        .map(column -> new RelationDefinition.Column(
                                column.name(), column.typeOid(), column.typmod(), full || column.attnum() == 1))
                        .toList());
    }
}
