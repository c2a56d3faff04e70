package sluice.core.resume;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.transaction.Change;
import sluice.core.transaction.Transaction;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// What the buffer believes it weighs, against what it does weigh on this heap.
class ResumeBufferWeightTest {
    private static final RelationDefinition TABLE = new RelationDefinition(
            16_400,
            "public",
            "items",
            'f',
            List.of(
                    new RelationDefinition.Column("id", 20, -1, true),
                    new RelationDefinition.Column("owner_id", 2950, -1, true),
                    new RelationDefinition.Column("body", 25, -1, true)));

    /// Lengths of a bigint, a uuid and a short text.
    private static final int[] TEXTS = {7, 36, 20};

    @Test
    void a_believed_byte_is_a_byte_give_or_take_a_third() {
        assertWeighs("update of three columns with its old row", 100_000, 1, _ -> update());
        assertWeighs("insert of three columns", 100_000, 1, _ -> new Change.Insert(TABLE, tuples(1)[0]));
        assertWeighs(
                "inserts of three columns, a hundred a commit",
                1_000,
                100,
                _ -> new Change.Insert(TABLE, tuples(1)[0]));
    }

    /// The old key of a row whose new image was large: it keeps that image in memory.
    @Test
    void a_small_part_of_a_large_frame_weighs_as_much_as_the_frame() {
        Tuple key = new Tuple(new byte[1_000_000], new Tuple.Kind[] {Tuple.Kind.TEXT}, new int[1], new int[] {1});
        ResumeBuffer buffer = buffer();
        append(buffer, 0, List.of(new Change.Delete(TABLE, key)));
        assertThat(buffer.weightBytes()).isGreaterThan(1_000_000);
    }

    private static void assertWeighs(String what, int commits, int changesEach, IntFunction<Change> change) {
        ResumeBuffer buffer = buffer();
        long before = used();
        for (int i = 0; i < commits; i++) {
            List<Change> changes = new ArrayList<>();
            for (int j = 0; j < changesEach; j++) {
                changes.add(change.apply(j));
            }
            append(buffer, i, changes);
        }
        double bytes = (double) (used() - before) / (commits * (double) changesEach);
        // reads the buffer, so it was all there until here
        double believed = (double) buffer.weightBytes() / (commits * (double) changesEach);
        assertThat(believed).as(what).isBetween(bytes * 0.67, bytes * 1.33);
    }

    private static ResumeBuffer buffer() {
        return new ResumeBuffer(new ResumeBuffer.Bounds(Duration.ZERO, 1L << 40));
    }

    private static void append(ResumeBuffer buffer, int number, List<Change> changes) {
        Lsn lsn = new Lsn(1_000_000L + number * 200L);
        Instant time = Instant.ofEpochSecond(1_700_000_000L, number);
        BufferedCommit commit = new BufferedCommit(number, new Xid(1000 + number), lsn, time);
        Transaction transaction = new Transaction(
                commit.xid(), lsn, lsn, time, List.of(), List.copyOf(changes), List.of(), List.of(), 100);
        buffer.append(commit, transaction, _ -> true, Instant.ofEpochSecond(1_700_000_000L, number + 1));
    }

    private static Change update() {
        Tuple[] both = tuples(2);
        return new Change.Update(TABLE, both[0], both[1]);
    }

    /// Tuples of one frame, as the decoder reads them: a head, and a kind and a length before each value.
    private static Tuple[] tuples(int count) {
        int length = 6;
        Tuple[] tuples = new Tuple[count];
        int[][] offsets = new int[count][TEXTS.length];
        for (int i = 0; i < count; i++) {
            length += 3;
            for (int column = 0; column < TEXTS.length; column++) {
                offsets[i][column] = length + 5;
                length += 5 + TEXTS[column];
            }
        }
        byte[] frame = new byte[length];
        for (int i = 0; i < count; i++) {
            Tuple.Kind[] kinds = {Tuple.Kind.TEXT, Tuple.Kind.TEXT, Tuple.Kind.TEXT};
            tuples[i] = new Tuple(frame, kinds, offsets[i], TEXTS.clone());
        }
        return tuples;
    }

    /// Of the heap, once what is free is free.
    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(
                    least,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
