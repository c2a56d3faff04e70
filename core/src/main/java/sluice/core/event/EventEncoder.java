package sluice.core.event;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.transaction.Change;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonString;
import sluice.core.value.JsonWriter;
import sluice.core.wal.Lsn;

/// Writes change events, each distinct body once.
///
/// Rows of a snapshot are written by {@link #beginSnapshot} and {@link #snapshotRow}, by an encoder of their own.
///
/// Life: {@link #beginCommit}, then for each change {@link #beginChange} and, for each group of subscriptions
/// that see it alike, {@link #body}. A body asked for again is the same object. Owned by one thread; what it
/// returns may go to any.
public final class EventEncoder {
    /// Distinct bodies of one change that are remembered. When there are more the oldest is forgotten, and
    /// written again if it is asked for.
    private static final int REMEMBERED_MAX = 8;

    private static final String TOO_LARGE = ",\"degraded\":\"change_too_large\"";
    private static final String UNDECIDED = ",\"degraded\":\"delete_authz_unavailable\"";
    private static final byte[] NO_POSITION = new byte[0];
    private static final int SINK_KEPT_MAX = 1024 * 1024;

    private record Remembered(
            Operation operation, Transition transition, Projection projection, Images images, EventBody body) {}

    /// What a tuple is written with.
    private enum Cut {
        WHOLE,
        KEY_ONLY
    }

    private final int changeBytesMax;
    private final ByteSink sink = new ByteSink(4096);
    private final JsonWriter values = new JsonWriter(sink);
    private final List<Remembered> remembered = new ArrayList<>(REMEMBERED_MAX);
    private int oldest;

    private byte[] commitLsn = new byte[0];
    private byte[] commitMembers = new byte[0];
    private @Nullable RelationDefinition relation;
    private byte[] relationMembers = new byte[0];
    private @Nullable Tuple record;
    private @Nullable Tuple old;
    private @Nullable ColumnMapping mapping;
    private final Consumer<RelationDefinition> cutChanges;
    private boolean cut;

    /// @param changeBytesMax sum of the text lengths shown above which an event keeps its key columns only
    public EventEncoder(int changeBytesMax) {
        this(changeBytesMax, _ -> {});
    }

    /// @param cutChanges told once of each change that was too large for anybody, with its table
    public EventEncoder(int changeBytesMax, Consumer<RelationDefinition> cutChanges) {
        this.changeBytesMax = changeBytesMax;
        this.cutChanges = cutChanges;
    }

    public void beginCommit(Lsn lsn, Instant commitTime) {
        commitLsn = lsn.toString().getBytes(StandardCharsets.US_ASCII);
        sink.clear(SINK_KEPT_MAX);
        sink.put(",\"commit_lsn\":\"");
        sink.put(commitLsn);
        sink.put("\",\"commit_time\":\"");
        sink.put(Timestamps.rfc3339(commitTime));
        sink.put('"');
        commitMembers = sink.toBytes();
    }

    /// @param columns where the change's tuples keep the columns of the projections that will be asked for
    public void beginChange(Change change, ColumnMapping columns) {
        mapping = columns;
        remembered.clear();
        oldest = 0;
        cut = false;
        if (!change.relation().equals(relation)) {
            relation = change.relation();
            relationMembers = relationMembers(
                    change.relation().schema(), change.relation().name());
        }
        record = switch (change) {
            case Change.Insert insert -> insert.row();
            case Change.Update update -> update.row();
            case Change.Delete delete -> null;
            case Change.Truncate truncate -> null;
        };
        old = switch (change) {
            case Change.Insert insert -> null;
            case Change.Update update -> update.old();
            case Change.Delete delete -> delete.old();
            case Change.Truncate truncate -> null;
        };
    }

    private byte[] relationMembers(String schema, String table) {
        sink.clear(SINK_KEPT_MAX);
        sink.put(",\"schema\":");
        JsonString.quote(schema, sink);
        sink.put(",\"table\":");
        JsonString.quote(table, sink);
        return sink.toBytes();
    }

    /// The change as a group of subscriptions sees it.
    ///
    /// @param operation what the group is told, which need not be what the log said
    /// @param images an image the change does not have is left out
    public EventBody body(Operation operation, Transition transition, Projection projection, Images images) {
        for (int i = 0; i < remembered.size(); i++) {
            Remembered known = remembered.get(i);
            if (known.operation == operation
                    && known.transition == transition
                    && known.images == images
                    && known.projection.equals(projection)) {
                return known.body;
            }
        }
        EventBody body = encode(operation, transition, projection, images);
        var entry = new Remembered(operation, transition, projection, images, body);
        if (remembered.size() < REMEMBERED_MAX) {
            remembered.add(entry);
        } else {
            remembered.set(oldest, entry);
            oldest = (oldest + 1) % REMEMBERED_MAX;
        }
        return body;
    }

    /// A TRUNCATE, which shows no row.
    public EventBody truncate() {
        open(Operation.TRUNCATE);
        return close();
    }

    /// What follows are rows of a table as they were at a position of the log.
    ///
    /// @param columns where their tuples keep the columns of the projections that will be asked for
    public void beginSnapshot(Relation of, Lsn floor, ColumnMapping columns) {
        commitLsn = NO_POSITION;
        sink.clear(SINK_KEPT_MAX);
        sink.put(",\"commit_lsn\":\"");
        sink.put(floor.toString());
        sink.put('"');
        commitMembers = sink.toBytes();
        relation = null;
        relationMembers = relationMembers(of.schema(), of.name());
        mapping = columns;
    }

    /// What is known of a snapshot's row.
    public enum RowPart {
        WHOLE,
        /// It is too large to be sent, so only its key was read.
        KEY
    }

    /// A row of a snapshot, in the form of an insert of the same row.
    public EventBody snapshotRow(Tuple row, RowPart part, Projection projection) {
        open(Operation.INSERT);
        boolean fits = part == RowPart.WHOLE && textBytes(projection, row, Cut.WHOLE) <= changeBytesMax;
        if (fits) {
            image(",\"record\":", projection, row, Cut.WHOLE);
        } else {
            if (textBytes(projection, row, Cut.KEY_ONLY) <= changeBytesMax) {
                image(",\"record\":", projection, row, Cut.KEY_ONLY);
            }
            sink.put(TOO_LARGE);
        }
        sink.put(",\"snapshot\":true");
        return close();
    }

    private EventBody encode(Operation operation, Transition transition, Projection projection, Images images) {
        Tuple shownRecord = images.showRecord() ? record : null;
        Tuple shownOld = images.showOld() ? old : null;
        open(operation);
        boolean decided = images != Images.OLD_KEY;
        boolean fits = decided
                && textBytes(projection, shownRecord, Cut.WHOLE) + textBytes(projection, shownOld, Cut.WHOLE)
                        <= changeBytesMax;
        if (fits) {
            image(",\"record\":", projection, shownRecord, Cut.WHOLE);
            image(",\"old\":", projection, shownOld, Cut.WHOLE);
            unchanged(projection, shownRecord);
        } else if (textBytes(projection, shownRecord, Cut.KEY_ONLY) + textBytes(projection, shownOld, Cut.KEY_ONLY)
                <= changeBytesMax) {
            image(",\"record\":", projection, shownRecord, Cut.KEY_ONLY);
            image(",\"old\":", projection, shownOld, Cut.KEY_ONLY);
        }
        switch (transition) {
            case NONE -> {}
            case ENTER -> sink.put(",\"transition\":\"enter\"");
            case LEAVE -> sink.put(",\"transition\":\"leave\"");
        }
        if (!decided) {
            sink.put(UNDECIDED);
        } else if (!fits) {
            sink.put(TOO_LARGE);
            tellCut();
        }
        return close();
    }

    private void tellCut() {
        RelationDefinition of = relation;
        if (!cut && of != null) {
            cut = true;
            cutChanges.accept(of);
        }
    }

    private void open(Operation operation) {
        sink.clear(SINK_KEPT_MAX);
        sink.put("\"op\":\"");
        sink.put(operation.name());
        sink.put('"');
        sink.put(relationMembers);
        sink.put(commitMembers);
    }

    private EventBody close() {
        sink.put("}\n\n");
        return new EventBody(commitLsn, sink.toBytes());
    }

    /// Long, because two images of a gigabyte each do not fit an int.
    private long textBytes(Projection projection, @Nullable Tuple tuple, Cut cut) {
        if (tuple == null) {
            return 0;
        }
        long sum = 0;
        for (int i = 0; i < projection.size(); i++) {
            int position = position(projection, i, cut);
            if (position != ColumnMapping.ABSENT && tuple.kind(position) == Tuple.Kind.TEXT) {
                sum += tuple.length(position);
            }
        }
        return sum;
    }

    private int position(Projection projection, int index, Cut cut) {
        Projection.Entry entry = projection.entry(index);
        if (mapping == null || (cut == Cut.KEY_ONLY && entry.part() != Projection.Part.KEY)) {
            return ColumnMapping.ABSENT;
        }
        return mapping.position(entry.attnum());
    }

    /// One member with the columns the tuple holds; no member when it holds none of them.
    private void image(String member, Projection projection, @Nullable Tuple tuple, Cut cut) {
        if (tuple == null) {
            return;
        }
        int mark = sink.length();
        sink.put(member);
        boolean empty = true;
        for (int i = 0; i < projection.size(); i++) {
            int position = position(projection, i, cut);
            if (position == ColumnMapping.ABSENT) {
                continue;
            }
            Tuple.Kind kind = tuple.kind(position);
            if (kind != Tuple.Kind.TEXT && kind != Tuple.Kind.NULL) {
                continue;
            }
            sink.put(empty ? '{' : ',');
            empty = false;
            projection.writeName(i, sink);
            sink.put(':');
            if (kind == Tuple.Kind.NULL) {
                values.writeNull();
            } else {
                values.write(projection.entry(i).type(), tuple.bytes(), tuple.offset(position), tuple.length(position));
            }
        }
        if (empty) {
            sink.truncate(mark);
        } else {
            sink.put('}');
        }
    }

    /// Names the columns whose value the log did not repeat: the client keeps the one it has.
    private void unchanged(Projection projection, @Nullable Tuple tuple) {
        if (tuple == null) {
            return;
        }
        boolean empty = true;
        for (int i = 0; i < projection.size(); i++) {
            int position = position(projection, i, Cut.WHOLE);
            if (position != ColumnMapping.ABSENT && tuple.kind(position) == Tuple.Kind.UNCHANGED) {
                sink.put(empty ? ",\"unchanged\":[" : ",");
                empty = false;
                projection.writeName(i, sink);
            }
        }
        if (!empty) {
            sink.put(']');
        }
    }
}
