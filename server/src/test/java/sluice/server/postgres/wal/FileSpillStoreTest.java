package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.core.transaction.SpillException;
import sluice.core.transaction.SpillStore;

class FileSpillStoreTest {
    private static final int ROWS = Boolean.getBoolean("sluice.long") ? 1_000_000 : 200_000;

    /// Less than the transaction's images take: 350 bytes a row and more.
    private static final String HEAP = Boolean.getBoolean("sluice.long") ? "-Xmx256m" : "-Xmx64m";

    @TempDir
    private Path folder;

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void a_run_is_read_as_written_and_gives_its_space_back() throws IOException {
        FileSpillStore store = new FileSpillStore(folder, 1_000_000);
        SpillStore.Writer writer = store.create();
        byte[] large = new byte[200_000];
        large[199_999] = 42;
        writer.write(large, 0, large.length);
        writer.write(new byte[] {1, 2, 3}, 1, 2);
        SpillStore.Run run = writer.finish();
        assertThat(store.bytes()).isEqualTo(200_002);

        SpillStore.Reader reader = run.open();
        byte[] back = new byte[300_000];
        int length = 0;
        for (int count = reader.read(back, 0, back.length);
                count > 0;
                count = reader.read(back, length, back.length - length)) {
            length += count;
        }
        reader.close();
        run.delete();

        assertThat(length).isEqualTo(200_002);
        assertThat(new byte[] {back[199_999], back[200_000], back[200_001]}).containsExactly(42, 2, 3);
        assertThat(store.bytes()).isZero();
        assertThat(files()).isEmpty();
    }

    @Test
    void what_does_not_fit_stops_with_the_setting_named_and_leaves_nothing() throws IOException {
        FileSpillStore store = new FileSpillStore(folder, 1_000);
        SpillStore.Writer writer = store.create();
        writer.write(new byte[900], 0, 900);

        assertThatThrownBy(() -> writer.write(new byte[101], 0, 101))
                .isInstanceOf(SpillException.class)
                .hasMessageContaining("SLUICE_SPILL_MAX_BYTES");
        assertThat(store.bytes()).isZero();
        assertThat(files()).isEmpty();
    }

    @Test
    void what_is_kept_is_read_from_anywhere_and_gives_its_space_back_once() throws IOException {
        FileSpillStore store = new FileSpillStore(folder, 1_000, 1_000);
        SpillStore.Keeping keeping = Objects.requireNonNull(store.keep());
        assertThat(keeping.write(new byte[] {1, 2, 3, 4}, 1, 3)).isTrue();
        assertThat(keeping.write(new byte[] {5}, 0, 1)).isTrue();
        SpillStore.Kept kept = keeping.finish();

        assertThat(kept.read(2, 2)).containsExactly(4, 5);
        assertThat(kept.read(0, 1)).containsExactly(2);
        assertThat(store.keptBytes()).isEqualTo(4);
        assertThat(store.bytes()).isZero();
        // whatever becomes of the process, nothing of it is left
        assertThat(files()).isEmpty();
        kept.delete();
        kept.delete();
        assertThat(store.keptBytes()).isZero();
        assertThatThrownBy(() -> kept.read(0, 1)).isInstanceOf(SpillException.class);
    }

    @Test
    void what_finds_no_room_to_be_kept_is_given_up_and_takes_none_from_others() {
        FileSpillStore store = new FileSpillStore(folder, 1_000, 1_000);
        SpillStore.Keeping first = Objects.requireNonNull(store.keep());
        assertThat(first.write(new byte[900], 0, 900)).isTrue();
        SpillStore.Keeping second = Objects.requireNonNull(store.keep());
        assertThat(second.write(new byte[101], 0, 101)).isFalse();
        second.abandon();
        assertThat(store.keptBytes()).isEqualTo(900);
        assertThat(first.write(new byte[100], 0, 100)).isTrue();
    }

    @Test
    void nothing_is_kept_on_a_disk_that_runs_may_need() {
        assertThat(new FileSpillStore(folder, Long.MAX_VALUE, 1_000).keep()).isNull();
        assertThat(new FileSpillStore(folder, 1_000).keep()).isNull();
    }

    @Test
    void a_folder_that_cannot_be_used_is_named() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "no folder");

        assertThatThrownBy(() -> new FileSpillStore(file, 1_000).clean())
                .isInstanceOf(SpillException.class)
                .hasMessageContaining("SLUICE_SPILL_DIR");
    }

    @Test
    void what_a_crash_left_is_removed_and_nothing_else() throws IOException {
        FileSpillStore crashed = new FileSpillStore(folder, 1_000_000);
        crashed.create().write(new byte[100_000], 0, 100_000);
        Path foreign = Files.writeString(folder.resolve("other.txt"), "not ours");
        assertThat(files()).hasSize(2);

        FileSpillStore next = new FileSpillStore(folder, 1_000_000);
        next.clean();

        assertThat(files()).containsExactly(foreign);
        assertThat(next.bytes()).isZero();
    }

    @Test
    void a_transaction_larger_than_the_heap_comes_out_netted_and_in_order() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        HEAP,
                        "-cp",
                        System.getProperty("java.class.path"),
                        SpillVolume.class.getName(),
                        folder.toString(),
                        Integer.toString(ROWS),
                        Long.toString(4L << 30))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isZero();
        // each tenth row was deleted again, and the rows of before changed their keys
        assertThat(said.trim())
                .isEqualTo("inserts=" + (ROWS - ROWS / 10) + " updates=" + ROWS / 10
                        + " other=0 disordered=0 left=0 chunk<2MiB=true");
        assertThat(files()).isEmpty();
    }
}
