package sluice.core.pgoutput;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputMessage.Begin;
import sluice.core.pgoutput.PgOutputMessage.Commit;
import sluice.core.pgoutput.PgOutputMessage.Delete;
import sluice.core.pgoutput.PgOutputMessage.Insert;
import sluice.core.pgoutput.PgOutputMessage.Message;
import sluice.core.pgoutput.PgOutputMessage.Origin;
import sluice.core.pgoutput.PgOutputMessage.Truncate;
import sluice.core.pgoutput.PgOutputMessage.Update;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Frames of the replication stream to messages: protocols 1 to 4 with streaming and two-phase off, values as text.
///
/// It remembers one thing, the newest definition of each relation, so one decoder lives as long as one stream; its
/// size is bounded by the number of published tables. One thread.
///
/// What it refuses it refuses with {@link DecodeException}: a field that is cut short or too long, bytes left over,
/// an unknown kind, a relation that was never announced, and what was not asked for (streamed and prepared
/// transactions, binary values). Nothing is allocated before the frame was seen to hold it, so garbage costs no
/// more than its size.
///
/// Source: PostgreSQL 18 manual, 54.9 "Logical Replication Message Formats".
public final class PgOutputDecoder {
    private static final long EPOCH_SECONDS =
            Instant.parse("2000-01-01T00:00:00Z").getEpochSecond();

    /// Flags, an empty name, type and modifier.
    private static final int RELATION_COLUMN_BYTES_MIN = 1 + 1 + 4 + 4;

    private final Map<Integer, RelationDefinition> relationsByOid = new HashMap<>();

    /// Reads one whole message.
    ///
    /// @param frame tuples of the message keep pointing into it: it must never be written again
    /// @throws DecodeException when the bytes are anything else than exactly one message
    public PgOutputMessage decode(byte[] frame, int offset, int length) {
        FrameReader in = new FrameReader(frame, offset, length);
        PgOutputMessage message = switch (in.kind()) {
            case 'B' -> begin(in.named("Begin"));
            case 'C' -> commit(in.named("Commit"));
            case 'O' -> new Origin(lsn(in.named("Origin")), in.lenientText());
            case 'R' -> relation(in.named("Relation"));
            case 'Y' -> type(in.named("Type"));
            case 'I' -> insert(in.named("Insert"));
            case 'U' -> update(in.named("Update"));
            case 'D' -> delete(in.named("Delete"));
            case 'T' -> truncate(in.named("Truncate"));
            case 'M' -> message(in.named("Message"));
            case 'S' -> throw unasked(in.named("Stream Start"));
            case 'E' -> throw unasked(in.named("Stream Stop"));
            case 'c' -> throw unasked(in.named("Stream Commit"));
            case 'A' -> throw unasked(in.named("Stream Abort"));
            case 'b' -> throw unasked(in.named("Begin Prepare"));
            case 'P' -> throw unasked(in.named("Prepare"));
            case 'K' -> throw unasked(in.named("Commit Prepared"));
            case 'r' -> throw unasked(in.named("Rollback Prepared"));
            case 'p' -> throw unasked(in.named("Stream Prepare"));
            default -> throw in.malformed("no such message kind");
        };
        in.end();
        if (message instanceof PgOutputMessage.Relation(RelationDefinition definition)) {
            relationsByOid.put(definition.oid(), definition);
        }
        return message;
    }

    private static DecodeException unasked(FrameReader in) {
        return in.malformed("not sent unless asked for, and never asked for");
    }

    private static Begin begin(FrameReader in) {
        return new Begin(lsn(in), time(in), new Xid(in.int32("xid")));
    }

    private static Commit commit(FrameReader in) {
        if (in.int8("flags") != 0) {
            throw in.malformed("unknown flags");
        }
        return new Commit(lsn(in), lsn(in), time(in));
    }

    private static Lsn lsn(FrameReader in) {
        return new Lsn(in.int64("LSN"));
    }

    private static Instant time(FrameReader in) {
        long micros = in.int64("timestamp");
        long seconds = Math.floorDiv(micros, 1_000_000L);
        return Instant.ofEpochSecond(EPOCH_SECONDS + seconds, Math.floorMod(micros, 1_000_000L) * 1000L);
    }

    private static PgOutputMessage relation(FrameReader in) {
        int oid = in.int32("oid");
        String schema = in.text("schema");
        String name = in.text("name");
        int identity = in.int8("replica identity");
        if (identity != 'd' && identity != 'i' && identity != 'f' && identity != 'n') {
            throw in.malformed("unknown replica identity");
        }
        int count = in.count("column count", RELATION_COLUMN_BYTES_MIN);
        List<RelationDefinition.Column> columns = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int flags = in.int8("column flags");
            if (flags != 0 && flags != 1) {
                throw in.malformed("unknown column flags");
            }
            String column = in.text("column name");
            int type = in.int32("column type");
            columns.add(new RelationDefinition.Column(column, type, in.int32("column modifier"), flags == 1));
        }
        // the protocol's short form
        String fullSchema = schema.isEmpty() ? "pg_catalog" : schema;
        return new PgOutputMessage.Relation(new RelationDefinition(oid, fullSchema, name, (char) identity, columns));
    }

    private static PgOutputMessage.Type type(FrameReader in) {
        int oid = in.int32("oid");
        String schema = in.text("schema");
        return new PgOutputMessage.Type(oid, schema.isEmpty() ? "pg_catalog" : schema, in.text("name"));
    }

    private Insert insert(FrameReader in) {
        RelationDefinition relation = announced(in);
        expectNew(in, in.int8("tuple kind"));
        return new Insert(relation, newTuple(in, relation));
    }

    private Update update(FrameReader in) {
        RelationDefinition relation = announced(in);
        int kind = in.int8("tuple kind");
        @Nullable Tuple old = null;
        if (kind == 'K' || kind == 'O') {
            old = oldTuple(in, relation, kind);
            kind = in.int8("tuple kind");
        }
        expectNew(in, kind);
        return new Update(relation, old, newTuple(in, relation));
    }

    private Delete delete(FrameReader in) {
        RelationDefinition relation = announced(in);
        int kind = in.int8("tuple kind");
        if (kind != 'K' && kind != 'O') {
            throw in.malformed("no old tuple");
        }
        return new Delete(relation, oldTuple(in, relation, kind));
    }

    private static void expectNew(FrameReader in, int kind) {
        if (kind != 'N') {
            throw in.malformed("no new tuple");
        }
    }

    private Truncate truncate(FrameReader in) {
        int count = in.int32("relation count");
        int options = in.int8("options");
        if (options < 0 || options > 3) {
            throw in.malformed("unknown options");
        }
        if (count < 0 || count > in.remaining() / 4) {
            throw in.malformed("relation count exceeds the message");
        }
        List<RelationDefinition> relations = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            relations.add(announced(in));
        }
        return new Truncate(relations);
    }

    private static Message message(FrameReader in) {
        int flags = in.int8("flags");
        if (flags != 0 && flags != 1) {
            throw in.malformed("unknown flags");
        }
        Lsn lsn = lsn(in);
        String prefix = in.lenientText();
        return new Message(flags == 1, lsn, prefix, in.bytes(in.int32("content length")));
    }

    private RelationDefinition announced(FrameReader in) {
        RelationDefinition relation = relationsByOid.get(in.int32("relation oid"));
        if (relation == null) {
            throw in.malformed("the relation was not announced");
        }
        return relation;
    }

    private static Tuple newTuple(FrameReader in, RelationDefinition relation) {
        return tuple(in, columnKinds(in, relation));
    }

    /// An old tuple holds `n` for SQL NULL and for every column the log does not carry. Only the
    /// identity's columns are
    /// surely carried, so an `n` anywhere else says nothing about the row.
    private static Tuple oldTuple(FrameReader in, RelationDefinition relation, int kind) {
        List<RelationDefinition.Column> columns = relation.columns();
        Tuple.Kind[] kinds = columnKinds(in, relation);
        Tuple tuple = tuple(in, kinds);
        boolean asAnnounced = (kind == 'O') == (relation.identity() == 'f');
        for (int i = 0; i < kinds.length; i++) {
            if (kinds[i] == Tuple.Kind.NULL && !(asAnnounced && columns.get(i).inIdentity())) {
                kinds[i] = Tuple.Kind.NOT_SENT;
            }
        }
        return tuple;
    }

    private static Tuple.Kind[] columnKinds(FrameReader in, RelationDefinition relation) {
        int count = in.count("column count", 1);
        if (count != relation.columns().size()) {
            throw in.malformed("another number of columns than the relation has");
        }
        return new Tuple.Kind[count];
    }

    private static Tuple tuple(FrameReader in, Tuple.Kind[] kinds) {
        int count = kinds.length;
        int[] offsets = new int[count];
        int[] lengths = new int[count];
        for (int i = 0; i < count; i++) {
            switch (in.int8("column kind")) {
                case 'n' -> kinds[i] = Tuple.Kind.NULL;
                case 'u' -> kinds[i] = Tuple.Kind.UNCHANGED;
                case 't' -> {
                    kinds[i] = Tuple.Kind.TEXT;
                    lengths[i] = in.int32("value length");
                    offsets[i] = in.skip(lengths[i]);
                }
                case 'b' -> throw in.malformed("a binary value, which was not asked for");
                default -> throw in.malformed("no such column kind");
            }
        }
        return new Tuple(in.frame(), kinds, offsets, lengths);
    }

    /// A cursor over one frame that never leaves it.
    private static final class FrameReader {
        private final byte[] frame;
        private final int start;
        private final int end;
        private int position;
        private String name = "unknown";

        FrameReader(byte[] frame, int offset, int length) {
            java.util.Objects.checkFromIndexSize(offset, length, frame.length);
            this.frame = frame;
            this.start = offset;
            this.end = offset + length;
            this.position = offset;
        }

        byte[] frame() {
            return frame;
        }

        FrameReader named(String messageName) {
            this.name = messageName;
            return this;
        }

        int remaining() {
            return end - position;
        }

        DecodeException malformed(String fact) {
            return new DecodeException(name, position - start, fact);
        }

        void end() {
            if (position != end) {
                throw malformed("bytes left over");
            }
        }

        int kind() {
            return int8("kind");
        }

        int int8(String field) {
            require(1, field);
            return frame[position++];
        }

        int int32(String field) {
            require(4, field);
            int value = 0;
            for (int i = 0; i < 4; i++) {
                value = value << 8 | (frame[position++] & 0xFF);
            }
            return value;
        }

        long int64(String field) {
            require(8, field);
            long high = int32(field);
            return high << 32 | (int32(field) & 0xFFFF_FFFFL);
        }

        /// A 16-bit count of things that take at least `bytesMin` each.
        int count(String field, int bytesMin) {
            require(2, field);
            int value = (frame[position++] & 0xFF) << 8 | (frame[position++] & 0xFF);
            if (value > remaining() / bytesMin) {
                throw malformed(field + " exceeds the message");
            }
            return value;
        }

        /// Passes over a value, answering where it starts.
        int skip(int length) {
            if (length < 0 || length > remaining()) {
                throw malformed("value length exceeds the message");
            }
            int from = position;
            position += length;
            return from;
        }

        byte[] bytes(int length) {
            int from = skip(length);
            return java.util.Arrays.copyOfRange(frame, from, from + length);
        }

        /// A name. Bytes that are no UTF-8 could make two names look the same, so they are refused.
        String text(String field) {
            int from = position;
            String text = lenientText();
            if (text.indexOf('\uFFFD') >= 0
                    && !java.util.Arrays.equals(
                            text.getBytes(StandardCharsets.UTF_8),
                            java.util.Arrays.copyOfRange(frame, from, position - 1))) {
                throw malformed(field + " is not UTF-8");
            }
            return text;
        }

        /// Text that only labels something; what is no UTF-8 in it is replaced.
        String lenientText() {
            int from = position;
            while (position < end) {
                if (frame[position++] == 0) {
                    return new String(frame, from, position - 1 - from, StandardCharsets.UTF_8);
                }
            }
            throw malformed("text without an end");
        }

        private void require(int bytes, String field) {
            if (remaining() < bytes) {
                throw malformed(field + " is cut short");
            }
        }
    }
}
