package sluice.core.transaction;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// How the records of one transaction are written to runs. Definitions are written as numbers that hold as long as
/// the transaction.
@SuppressWarnings("EnumOrdinal") // a run is read by the process that wrote it, before it ends
final class SpillCodecs {
    /// Memory of a record and its place in a queue, besides its images.
    private static final long RECORD_BYTES = 80;

    private final IdentityHashMap<RelationDefinition, Integer> numbers = new IdentityHashMap<>();
    private final List<RelationDefinition> definitions = new ArrayList<>();

    final RecordCodec<Touch> touches = new RecordCodec<>() {
        @Override
        public void write(Touch touch, RecordBuffer out) {
            out.putInt(touch.epoch());
            out.putSized(touch.key());
            out.putLong(touch.sequence());
            out.put(touch.kind().ordinal());
            image(touch.old(), out);
            image(touch.row(), out);
        }

        @Override
        public Touch read(RecordBuffer in) {
            return new Touch(
                    in.takeInt(), in.takeSized(), in.takeLong(), Touch.Kind.values()[in.take()], image(in), image(in));
        }

        @Override
        public long weightBytes(Touch touch) {
            return RECORD_BYTES + touch.key().length + Image.weightBytes(touch.old()) + Image.weightBytes(touch.row());
        }
    };

    final RecordCodec<Segment> segments = new RecordCodec<>() {
        @Override
        public void write(Segment segment, RecordBuffer out) {
            out.putInt(segment.epoch());
            out.putLong(segment.startLink());
            out.put(segment.end().ordinal());
            out.putLong(segment.endSequence());
            image(segment.image(), out);
            out.put(segment.keyState().ordinal());
            image(segment.keyBefore(), out);
            out.putLong(segment.originLink());
        }

        @Override
        public Segment read(RecordBuffer in) {
            return new Segment(
                    in.takeInt(),
                    in.takeLong(),
                    Segment.End.values()[in.take()],
                    in.takeLong(),
                    image(in),
                    Segment.KeyState.values()[in.take()],
                    image(in),
                    in.takeLong());
        }

        @Override
        public long weightBytes(Segment segment) {
            return RECORD_BYTES + Image.weightBytes(segment.image()) + Image.weightBytes(segment.keyBefore());
        }
    };

    final RecordCodec<Segment.Move> moves = new RecordCodec<>() {
        @Override
        public void write(Segment.Move move, RecordBuffer out) {
            out.putLong(move.link());
            out.put(move.origin().ordinal());
            image(move.before(), out);
            out.putLong(move.originLink());
            image(move.image(), out);
        }

        @Override
        public Segment.Move read(RecordBuffer in) {
            return new Segment.Move(
                    in.takeLong(), Segment.Origin.values()[in.take()], image(in), in.takeLong(), image(in));
        }

        @Override
        public long weightBytes(Segment.Move move) {
            return RECORD_BYTES + Image.weightBytes(move.before()) + Image.weightBytes(move.image());
        }
    };

    final RecordCodec<NetImage> results = new RecordCodec<>() {
        @Override
        public void write(NetImage result, RecordBuffer out) {
            out.putInt(result.epoch());
            out.put(result.kind().ordinal());
            out.putLong(result.sequence());
            image(result.before(), out);
            image(result.after(), out);
        }

        @Override
        public NetImage read(RecordBuffer in) {
            return new NetImage(in.takeInt(), NetImage.Kind.values()[in.take()], in.takeLong(), image(in), image(in));
        }

        @Override
        public long weightBytes(NetImage result) {
            return RECORD_BYTES + Image.weightBytes(result.before()) + Image.weightBytes(result.after());
        }
    };

    final RecordCodec<ImageLog.Logged> logged = new RecordCodec<>() {
        @Override
        public void write(ImageLog.Logged logged, RecordBuffer out) {
            out.putLong(logged.sequence());
            out.put(operation(logged.change()));
            image(oldImage(logged.change()), out);
            image(newImage(logged.change()), out);
        }

        @Override
        public ImageLog.Logged read(RecordBuffer in) {
            long sequence = in.takeLong();
            int operation = in.take();
            Image old = image(in);
            Image row = image(in);
            return new ImageLog.Logged(sequence, change(operation, old, row));
        }

        @Override
        public long weightBytes(ImageLog.Logged logged) {
            return RECORD_BYTES
                    + Image.weightBytes(oldImage(logged.change()))
                    + Image.weightBytes(newImage(logged.change()));
        }
    };

    private static final int INSERT = 0;
    private static final int UPDATE = 1;
    private static final int DELETE = 2;
    private static final int TRUNCATE = 3;
    private static final Tuple NO_COLUMNS = new Tuple(new byte[0], new Tuple.Kind[0], new int[0], new int[0]);

    private static int operation(Change change) {
        return switch (change) {
            case Change.Insert insert -> INSERT;
            case Change.Update update -> UPDATE;
            case Change.Delete delete -> DELETE;
            case Change.Truncate truncate -> TRUNCATE;
        };
    }

    private static @Nullable Image oldImage(Change change) {
        return switch (change) {
            case Change.Insert insert -> null;
            case Change.Update(var relation, var old, var row) -> old == null ? null : new Image(relation, old);
            case Change.Delete(var relation, var old) -> new Image(relation, old);
            case Change.Truncate truncate -> null;
        };
    }

    /// Of a TRUNCATE an image without columns, which carries the relation.
    private static @Nullable Image newImage(Change change) {
        return switch (change) {
            case Change.Insert(var relation, var row) -> new Image(relation, row);
            case Change.Update(var relation, var old, var row) -> new Image(relation, row);
            case Change.Delete delete -> null;
            case Change.Truncate(var relation) -> new Image(relation, NO_COLUMNS);
        };
    }

    private static Change change(int operation, @Nullable Image old, @Nullable Image row) {
        return switch (operation) {
            case INSERT -> new Change.Insert(known(row).relation(), known(row).tuple());
            case UPDATE ->
                new Change.Update(
                        known(row).relation(),
                        old == null ? null : old.tuple(),
                        known(row).tuple());
            case DELETE -> new Change.Delete(known(old).relation(), known(old).tuple());
            case TRUNCATE -> new Change.Truncate(known(row).relation());
            default -> throw new SpillException("a spilled image is of no operation");
        };
    }

    private static Image known(@Nullable Image image) {
        if (image == null) {
            throw new SpillException("a spilled image is missing");
        }
        return image;
    }

    private void image(@Nullable Image image, RecordBuffer out) {
        if (image == null) {
            out.putInt(-1);
            return;
        }
        out.putInt(number(image.relation()));
        Tuple tuple = image.tuple();
        out.putInt(tuple.columnCount());
        out.putInt(tuple.textBytes());
        for (int i = 0; i < tuple.columnCount(); i++) {
            out.put(tuple.kind(i).ordinal());
            if (tuple.kind(i) == Tuple.Kind.TEXT) {
                out.putInt(tuple.length(i));
            }
        }
        for (int i = 0; i < tuple.columnCount(); i++) {
            if (tuple.kind(i) == Tuple.Kind.TEXT) {
                out.putBytes(tuple.bytes(), tuple.offset(i), tuple.length(i));
            }
        }
    }

    private @Nullable Image image(RecordBuffer in) {
        int number = in.takeInt();
        if (number < 0) {
            return null;
        }
        int columns = in.takeInt();
        int textBytes = in.takeInt();
        Tuple.Kind[] kinds = new Tuple.Kind[columns];
        int[] offsets = new int[columns];
        int[] lengths = new int[columns];
        int offset = 0;
        for (int i = 0; i < columns; i++) {
            kinds[i] = Tuple.Kind.values()[in.take()];
            if (kinds[i] == Tuple.Kind.TEXT) {
                offsets[i] = offset;
                lengths[i] = in.takeInt();
                offset += lengths[i];
            }
        }
        return new Image(definitions.get(number), new Tuple(in.takeBytes(textBytes), kinds, offsets, lengths));
    }

    private int number(RelationDefinition definition) {
        Integer known = numbers.get(definition);
        if (known != null) {
            return known;
        }
        numbers.put(definition, definitions.size());
        definitions.add(definition);
        return definitions.size() - 1;
    }
}
