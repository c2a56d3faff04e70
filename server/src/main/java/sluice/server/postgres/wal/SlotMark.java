package sluice.server.postgres.wal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;
import sluice.core.wal.SlotName;

/// Remembers beyond the process that a slot existed, so that one that is missing at the next start is known to be
/// lost and not taken for a first start. A file of the spill folder; on a disk that goes with the process nothing is
/// remembered. One thread.
final class SlotMark {
    private static final String NAME = "slot-mark";

    private final Path folder;
    private final SlotName slot;

    /// What was known when the slot was last read from.
    ///
    /// @param confirmed by this process at least
    record Known(String systemId, Lsn confirmed) {}

    SlotMark(Path folder, SlotName slot) {
        this.folder = folder;
        this.slot = slot;
    }

    /// Null when no process that used this folder has read this slot.
    @Nullable
    Known read() {
        try {
            String[] words = Files.readString(folder.resolve(NAME)).strip().split(" ", -1);
            return words.length == 3 && words[0].equals(slot.text()) ? new Known(words[1], Lsn.parse(words[2])) : null;
        } catch (IOException | IllegalArgumentException e) {
            // none, or none that can be read: as on a first start
            return null;
        }
    }

    void write(Known known) {
        try {
            Files.createDirectories(folder);
            Path fresh = folder.resolve(NAME + ".new");
            Files.writeString(fresh, slot.text() + " " + known.systemId() + " " + known.confirmed() + "\n");
            Files.move(fresh, folder.resolve(NAME), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            // a lost slot will look like a first start; nothing else depends on it
            return;
        }
    }
}
