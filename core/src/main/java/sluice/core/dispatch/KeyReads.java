package sluice.core.dispatch;

import java.util.Collection;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.resume.BufferedFile;
import sluice.core.resume.BufferedPart;
import sluice.core.resume.ResumeBuffer;
import sluice.core.transaction.KeptKeys;

/// Which rows the spilled commits in the buffer changed, as far as somebody has to know.
///
/// A row that PostgreSQL decides is asked about as it is now, so whoever is given an earlier commit has to know of
/// each row whether a later one changed it again. What lies in a file is read for that once, for everybody, and known
/// for as long as the buffer keeps the commit. One file is read at a time. Owned by the engine's thread.
final class KeyReads {
    /// What is known of all that lies in files.
    enum Known {
        ALL,
        /// Not yet; it has been asked for.
        SOON,
        NEVER
    }

    private final EffectSink effects;
    private final LongSupplier requestIds;
    private final ResumeBuffer buffer;
    private long askedId;
    private @Nullable BufferedPart asked;

    KeyReads(EffectSink effects, LongSupplier requestIds, ResumeBuffer buffer) {
        this.effects = effects;
        this.requestIds = requestIds;
        this.buffer = buffer;
    }

    /// Whether it is known which rows of these tables commits after this one changed.
    Known after(long number, Collection<TableState> tables) {
        Known known = Known.ALL;
        for (TableState table : tables) {
            for (BufferedPart part : buffer.inFiles(table.relation().oid(), number + 1)) {
                // a file is read by the catalog alone, which does not tell what a column of the key was before
                if (part.refusesKeys()
                        || !table.renewed().areKnown(part.commit().lsn())) {
                    return Known.NEVER;
                }
                if (!isKnown(part, table)) {
                    ask(part, table);
                    known = Known.SOON;
                }
            }
        }
        return known;
    }

    private static boolean isKnown(BufferedPart part, TableState table) {
        KeptKeys keys = part.keys();
        return keys != null && keys.areOf(table.relation());
    }

    private void ask(BufferedPart part, TableState table) {
        BufferedFile file = part.file();
        if (asked == null && file != null) {
            asked = part;
            askedId = requestIds.getAsLong();
            file.retain();
            effects.emit(new Effect.ReadKeys(askedId, file.kept(), table.relation(), buffer.keysMax()));
        }
    }

    void answered(long id, @Nullable KeptKeys keys) {
        BufferedPart part = asked;
        BufferedFile file = part == null ? null : part.file();
        if (part == null || file == null || id != askedId) {
            return;
        }
        asked = null;
        if (keys == null) {
            part.refuseKeys();
        } else {
            buffer.know(part, keys);
        }
        buffer.release(file);
    }
}
