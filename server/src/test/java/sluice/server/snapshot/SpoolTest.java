package sluice.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.core.event.EventBody;

class SpoolTest {
    @TempDir
    private Path folder;

    private SpoolStore store(long bytesMax, long memoryMax, long spoolMemoryMax) {
        return new SpoolStore(folder, new SpoolStore.Bounds(bytesMax, memoryMax, spoolMemoryMax));
    }

    private static EventBody row(int id, int length) {
        return new EventBody(new byte[0], (id + ":" + "x".repeat(length)).getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> all(Spool spool, int rowsMax, long bytesMax) {
        List<String> rows = new ArrayList<>();
        List<EventBody> taken = spool.take(rowsMax, bytesMax);
        while (!taken.isEmpty()) {
            for (EventBody row : taken) {
                assertThat(row.hasPosition()).isFalse();
                rows.add(new String(row.tail(), StandardCharsets.UTF_8));
            }
            taken = spool.take(rowsMax, bytesMax);
        }
        return rows;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void rows_come_back_in_order_from_memory_and_from_the_file() throws IOException {
        SpoolStore store = store(1 << 24, 1 << 20, 4_000);
        for (int rowsMax : new int[] {1, 3, 1_000}) {
            for (long bytesMax : new long[] {1, 500, 1 << 20}) {
                Spool spool = store.create();
                List<String> expected = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    // one is larger than the buffer of the file
                    EventBody row = row(i, i == 200 ? 200_000 : i);
                    spool.add(row);
                    expected.add(new String(row.tail(), StandardCharsets.UTF_8));
                }
                spool.finish();
                assertThat(spool.isInFile()).isTrue();
                assertThat(spool.rows()).isEqualTo(300);
                assertThat(all(spool, rowsMax, bytesMax)).isEqualTo(expected);
                assertThat(store.bytes()).isZero();
                assertThat(store.memoryBytes()).isZero();
                assertThat(files()).isEmpty();
            }
        }
    }

    @Test
    void few_rows_stay_in_memory() {
        SpoolStore store = store(1 << 20, 1 << 20, 1 << 20);
        Spool spool = store.create();
        spool.add(row(1, 10));
        spool.finish();
        assertThat(spool.isInFile()).isFalse();
        assertThat(store.memoryBytes()).isPositive().isEqualTo(store.bytes());
        assertThat(all(spool, 10, 1)).containsExactly("1:xxxxxxxxxx");
        assertThat(store.create().take(1, 1)).isEmpty();
    }

    @Test
    void memory_that_other_spools_hold_sends_the_next_to_its_file() {
        SpoolStore store = store(1 << 20, 3_000, 2_500);
        Spool first = store.create();
        first.add(row(1, 2_000));
        Spool second = store.create();
        second.add(row(2, 2_000));
        assertThat(first.isInFile()).isFalse();
        assertThat(second.isInFile()).isTrue();
        assertThat(store.memoryBytes()).isLessThanOrEqualTo(3_000);
        first.drop();
        second.drop();
        assertThat(store.bytes()).isZero();
    }

    @Test
    void what_does_not_fit_fails_its_own_spool_and_what_is_dropped_makes_room() {
        SpoolStore store = store(10_000, 1_000, 1_000);
        Spool kept = store.create();
        kept.add(row(1, 6_000));
        kept.finish();
        Spool refused = store.create();
        assertThatThrownBy(() -> refused.add(row(2, 6_000)))
                .isInstanceOfSatisfying(
                        SpoolException.class, e -> assertThat(e.kind()).isEqualTo(SpoolException.Kind.FULL))
                .hasMessageContaining("SLUICE_SPILL_MAX_BYTES");
        refused.drop();
        assertThat(all(kept, 1, 1)).hasSize(1);
        Spool next = store.create();
        next.add(row(3, 6_000));
        assertThat(store.bytes()).isBetween(6_000L, 10_000L);
        next.drop();
        next.drop();
        assertThat(store.bytes()).isZero();
    }

    @Test
    void a_dropped_spool_takes_and_gives_nothing() {
        SpoolStore store = store(1 << 20, 0, 0);
        Spool spool = store.create();
        spool.add(row(1, 100));
        spool.drop();
        assertThatThrownBy(() -> spool.take(1, 1)).isInstanceOf(SpoolException.class);
        assertThatThrownBy(() -> spool.add(row(2, 1))).isInstanceOf(SpoolException.class);
        assertThat(store.bytes()).isZero();
    }

    @Test
    void what_an_earlier_process_left_is_removed_and_nothing_else() throws IOException {
        Files.writeString(folder.resolve("sluice-snapshot-1-1"), "left");
        Files.writeString(folder.resolve("sluice-spill-1"), "a commit");
        store(1, 1, 1).clean();
        assertThat(files()).containsExactly(folder.resolve("sluice-spill-1"));
    }

    @Test
    void a_folder_that_cannot_be_used_fails_the_spool() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        SpoolStore store = new SpoolStore(file, new SpoolStore.Bounds(1 << 20, 0, 0));
        Spool spool = store.create();
        assertThatThrownBy(() -> spool.add(row(1, 1)))
                .isInstanceOfSatisfying(
                        SpoolException.class, e -> assertThat(e.kind()).isEqualTo(SpoolException.Kind.BROKEN));
        spool.drop();
        assertThat(store.bytes()).isZero();
    }
}
