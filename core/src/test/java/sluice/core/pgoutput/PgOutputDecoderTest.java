package sluice.core.pgoutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The corpus holds every message of a script as PostgreSQL 15 to 18 sent it, with the highest protocol version that
/// was seen to send the very same bytes as all lower ones.
class PgOutputDecoderTest {
    private static final int MUTATIONS = 1_000_000;

    /// What decoding may allocate for each byte of a frame, and for one refusal with its stack.
    private static final long BYTES_PER_BYTE = 64;

    private static final long BYTES_PER_REFUSAL = 64 * 1024;

    private static final String NOT_SENT = Tuple.Kind.NOT_SENT.name();
    private static final String NULL = Tuple.Kind.NULL.name();
    private static final String UNCHANGED = Tuple.Kind.UNCHANGED.name();

    private final Map<String, List<byte[]>> framesByStream = corpus();

    private static Map<String, List<byte[]>> corpus() {
        Map<String, List<byte[]>> streams = new LinkedHashMap<>();
        try (InputStream in = PgOutputDecoderTest.class.getResourceAsStream("messages.txt")) {
            String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            for (String line : text.split("\n", -1)) {
                String[] fields = line.split(" ", -1);
                if (fields.length == 3) {
                    streams.computeIfAbsent(fields[0], key -> new ArrayList<>())
                            .add(HexFormat.of().parseHex(fields[2]));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return streams;
    }

    private static PgOutputMessage decode(PgOutputDecoder decoder, byte[] frame) {
        return decoder.decode(frame, 0, frame.length);
    }

    @Test
    void the_corpus_holds_every_server() {
        assertThat(framesByStream).containsOnlyKeys("15", "16", "17", "18");
    }

    @Test
    void every_message_cut_at_every_byte_is_refused_and_so_is_one_byte_more() {
        framesByStream.forEach((stream, frames) -> {
            PgOutputDecoder decoder = new PgOutputDecoder();
            for (byte[] frame : frames) {
                decode(decoder, frame);
                for (int length = 0; length < frame.length; length++) {
                    int cut = length;
                    assertThatThrownBy(() -> decoder.decode(frame, 0, cut))
                            .as(stream + " " + (char) frame[0] + " cut to " + cut + " of " + frame.length)
                            .isInstanceOf(DecodeException.class);
                }
                byte[] longer = Arrays.copyOf(frame, frame.length + 1);
                assertThatThrownBy(() -> decode(decoder, longer)).isInstanceOf(DecodeException.class);
            }
        });
    }

    @Test
    void null_unchanged_and_not_sent_are_told_apart() {
        List<String> updates = new ArrayList<>();
        PgOutputDecoder decoder = new PgOutputDecoder();
        for (byte[] frame : Objects.requireNonNull(framesByStream.get("18"))) {
            switch (decode(decoder, frame)) {
                case PgOutputMessage.Update(var relation, var old, var row) ->
                    updates.add(relation.name() + " " + (old == null ? "-" : print(old)) + " " + print(row));
                case PgOutputMessage.Delete(var relation, var old) -> updates.add(relation.name() + " " + print(old));
                case PgOutputMessage.Begin m -> {}
                case PgOutputMessage.Commit m -> {}
                case PgOutputMessage.Origin m -> {}
                case PgOutputMessage.Relation m -> {}
                case PgOutputMessage.Type m -> {}
                case PgOutputMessage.Insert m -> {}
                case PgOutputMessage.Truncate m -> {}
                case PgOutputMessage.Message m -> {}
            }
        }
        String others = ", " + NOT_SENT + ", " + NOT_SENT + ", " + NOT_SENT + ", " + NOT_SENT + ", " + NOT_SENT + "]";
        assertThat(updates.get(0)).isEqualTo("keyed - [1, 5, x, " + UNCHANGED + ", happy, 2026-01-02 03:04:05+00]");
        assertThat(updates.get(1)).startsWith("keyed [1" + others + " [10, 5, x, " + UNCHANGED);
        assertThat(updates.get(2)).startsWith("keyed - [10, 5, x, " + NULL + ", happy");
        assertThat(updates.get(3)).isEqualTo("keyed [10" + others);
        assertThat(updates.get(4)).startsWith("indexed [" + NOT_SENT + ", a, " + NOT_SENT + "] [1, c, Grüße]");
        assertThat(updates.get(6)).startsWith("whole [1, yyy").contains("] [3, " + UNCHANGED + "]");
        assertThat(updates.get(7)).isEqualTo("whole [2, " + NULL + "]");
    }

    private static List<String> print(Tuple tuple) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < tuple.columnCount(); i++) {
            values.add(
                    tuple.kind(i) == Tuple.Kind.TEXT
                            ? tuple.text(i)
                            : tuple.kind(i).name());
        }
        return values;
    }

    @Test
    void b53_one_truncate_names_all_its_relations() {
        PgOutputDecoder decoder = new PgOutputDecoder();
        List<String> truncated = new ArrayList<>();
        for (byte[] frame : Objects.requireNonNull(framesByStream.get("15"))) {
            if (decode(decoder, frame) instanceof PgOutputMessage.Truncate(var relations)) {
                relations.forEach(relation -> truncated.add(relation.qualifiedName()));
            }
        }
        assertThat(truncated).containsExactlyInAnyOrder("public.keyed", "public.whole");
    }

    @Test
    void times_count_from_the_year_2000() throws IOException {
        byte[] begin = bytes(out -> {
            out.writeByte('B');
            out.writeLong(0x1_0000_0010L);
            out.writeLong(-1);
            out.writeInt(-2);
        });
        PgOutputMessage.Begin message = (PgOutputMessage.Begin) decode(new PgOutputDecoder(), begin);
        assertThat(message.commitTime()).isEqualTo(Instant.parse("1999-12-31T23:59:59.999999Z"));
        assertThat(message.finalLsn()).hasToString("1/10");
        assertThat(message.xid()).hasToString("4294967294");
    }

    @Test
    void what_was_not_asked_for_is_refused_by_name() throws IOException {
        Map<Character, String> names = new LinkedHashMap<>();
        names.put('S', "Stream Start");
        names.put('E', "Stream Stop");
        names.put('c', "Stream Commit");
        names.put('A', "Stream Abort");
        names.put('b', "Begin Prepare");
        names.put('P', "Prepare");
        names.put('K', "Commit Prepared");
        names.put('r', "Rollback Prepared");
        names.put('p', "Stream Prepare");
        names.put('?', "unknown");
        names.forEach((kind, name) -> assertThatThrownBy(() ->
                        decode(new PgOutputDecoder(), new byte[] {(byte) (char) kind, 0, 0, 0, 0}))
                .isInstanceOf(DecodeException.class)
                .hasMessageStartingWith(name + " message, offset 1: "));
    }

    @Test
    void binary_values_impossible_lengths_and_unknown_relations_are_refused() throws IOException {
        PgOutputDecoder decoder = new PgOutputDecoder();
        decode(decoder, bytes(out -> {
            out.writeByte('R');
            out.writeInt(5);
            out.writeBytes("public\0t\0d");
            out.writeShort(1);
            out.writeByte(1);
            out.writeBytes("id\0");
            out.writeInt(23);
            out.writeInt(-1);
        }));
        refused(decoder, "a binary value", out -> insert(out, 5, 1, 'b', 1));
        refused(decoder, "value length exceeds", out -> insert(out, 5, 1, 't', -1));
        refused(decoder, "value length exceeds", out -> insert(out, 5, 1, 't', Integer.MAX_VALUE));
        refused(decoder, "no such column kind", out -> insert(out, 5, 1, 'x', 1));
        refused(decoder, "another number of columns", out -> insert(out, 5, 0, 'n', 1));
        refused(decoder, "column count exceeds", out -> insert(out, 5, 65_535, 'n', 1));
        refused(decoder, "not announced", out -> insert(out, 6, 1, 't', 1));
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private static void insert(DataOutputStream out, int oid, int columns, char kind, int length) throws IOException {
        out.writeByte('I');
        out.writeInt(oid);
        out.writeByte('N');
        out.writeShort(columns);
        out.writeByte(kind);
        out.writeInt(length);
        out.writeByte('7');
    }

    private static void refused(PgOutputDecoder decoder, String fact, Writing writing) throws IOException {
        byte[] frame = bytes(writing);
        assertThatThrownBy(() -> decode(decoder, frame))
                .isInstanceOf(DecodeException.class)
                .hasMessageContaining(fact);
    }

    private static byte[] bytes(Writing writing) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        writing.to(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    @Test
    void a_million_mutated_messages_are_decoded_or_refused_and_cost_no_more_than_their_size() {
        List<List<byte[]>> streams = new ArrayList<>(framesByStream.values());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Random random = new Random(20_000_101);
        int refused = 0;
        int done = 0;
        while (done < MUTATIONS) {
            List<byte[]> frames = streams.get(random.nextInt(streams.size()));
            PgOutputDecoder decoder = new PgOutputDecoder();
            frames.forEach(frame -> decode(decoder, frame));
            for (int i = 0; i < 2_000 && done < MUTATIONS; i++, done++) {
                byte[] frame = mutated(frames, random);
                long before = threads.getCurrentThreadAllocatedBytes();
                try {
                    decode(decoder, frame);
                } catch (DecodeException e) {
                    refused++;
                }
                long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                if (allocated > BYTES_PER_REFUSAL + BYTES_PER_BYTE * frame.length) {
                    assertThat(allocated).as(HexFormat.of().formatHex(frame)).isLessThan(BYTES_PER_REFUSAL);
                }
            }
        }
        // both happen often, or the mutations would test nothing
        assertThat(refused).isBetween(MUTATIONS / 10, MUTATIONS - MUTATIONS / 10);
    }

    private static byte[] mutated(List<byte[]> frames, Random random) {
        byte[] frame = frames.get(random.nextInt(frames.size())).clone();
        int changes = 1 + random.nextInt(3);
        for (int i = 0; i < changes; i++) {
            int at = random.nextInt(frame.length);
            switch (random.nextInt(6)) {
                case 0 -> frame[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> frame[at] = (byte) random.nextInt(256);
                case 2 -> frame[at] = (byte) "BCORYIUDTMntubKON\0".charAt(random.nextInt(18));
                case 3 -> frame[at] = (byte) (random.nextBoolean() ? 0xFF : 0x7F);
                case 4 -> frame = Arrays.copyOf(frame, 1 + random.nextInt(frame.length + 8));
                default -> {
                    byte[] other = frames.get(random.nextInt(frames.size()));
                    int from = random.nextInt(other.length);
                    int count = Math.min(Math.min(8, other.length - from), frame.length - at);
                    System.arraycopy(other, from, frame, at, count);
                }
            }
        }
        return frame;
    }
}
