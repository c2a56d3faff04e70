package sluice.core.transaction;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.transaction.ImageLog.Logged;

/// The net changes of a spilled commit, in delivery order, kept in a file for those who could not take them when they
/// were dispatched; before them every image, where some are given those. Made on the reader's thread; immutable from
/// then on, and read on any.
public final class KeptCommit {
    /// Bytes of a piece, about: it is read and held whole.
    static final int PIECE_BYTES = 64 * 1024;

    /// @param relationOids of the tables it has changes of
    private record Piece(long position, int length, Set<Integer> relationOids) {}

    private final SpillStore.Kept file;
    private final SpillCodecs codecs;
    private final List<Piece> pieces;
    private final int netFrom;

    private KeptCommit(SpillStore.Kept file, SpillCodecs codecs, List<Piece> pieces, int netFrom) {
        this.file = file;
        this.codecs = codecs;
        this.pieces = pieces;
        this.netFrom = netFrom;
    }

    /// Some of the pieces.
    ///
    /// @param from the first
    /// @param to one past the last
    public record Span(int from, int to) {}

    /// How many pieces there are in all.
    public int pieces() {
        return pieces.size();
    }

    /// What it takes on disk.
    public long bytes() {
        return pieces.isEmpty()
                ? 0
                : pieces.getLast().position() + pieces.getLast().length();
    }

    /// The pieces of the net changes.
    public Span net() {
        return new Span(netFrom, pieces.size());
    }

    /// The pieces of every image, in the order of the log; of the net changes where only those are kept.
    public Span everyImage() {
        return netFrom == 0 ? net() : new Span(0, netFrom);
    }

    /// Whether a piece has changes of the table.
    public boolean touches(int piece, int relationOid) {
        return pieces.get(piece).relationOids().contains(relationOid);
    }

    /// The changes of one piece. Reads the file.
    ///
    /// @throws SpillException when it cannot be read
    public List<Change> read(int piece) {
        Piece wanted = pieces.get(piece);
        RecordBuffer record = new RecordBuffer();
        byte[] bytes = file.read(wanted.position(), wanted.length());
        System.arraycopy(bytes, 0, record.fill(bytes.length), 0, bytes.length);
        List<Change> changes = new ArrayList<>();
        for (int left = record.takeInt(); left > 0; left--) {
            changes.add(codecs.logged.read(record).change());
        }
        return changes;
    }

    /// Which rows of the table it changed. Reads all pieces that touch the table, one at a time.
    ///
    /// @param table as the catalog has it: its key counts
    /// @return null when they are more than `most`
    /// @throws SpillException when it cannot be read
    public @Nullable KeptKeys keys(Relation table, int most) {
        KeptKeys.Collecting keys = new KeptKeys.Collecting(table, most);
        for (int piece = netFrom; piece < pieces.size(); piece++) {
            if (touches(piece, table.oid())) {
                for (Change change : read(piece)) {
                    if (change.relation().oid() == table.oid() && !keys.add(change)) {
                        return null;
                    }
                }
            }
        }
        return keys.finish();
    }

    /// Gives the file's space back. Safe to say twice.
    public void delete() {
        file.delete();
    }

    /// Writes one. What does not fit is given up; then there is none.
    static final class Writer {
        private final SpillStore.Keeping file;
        private final long pieceBytes;
        private final SpillCodecs codecs = new SpillCodecs();
        private final List<Piece> pieces = new ArrayList<>();
        private final RecordBuffer record = new RecordBuffer();
        private final Set<Integer> relationOids = new LinkedHashSet<>();
        private int changes;
        private long position;
        private boolean givenUp;
        private int netFrom;

        Writer(SpillStore.Keeping file, long pieceBytes) {
            this.file = file;
            this.pieceBytes = pieceBytes;
            clear();
        }

        /// Every image, before the first net change.
        void addImages(List<Change> chunk) {
            write(chunk);
            if (changes > 0 && !givenUp) {
                endPiece();
            }
            netFrom = pieces.size();
        }

        /// Net changes.
        void add(List<Change> chunk) {
            write(chunk);
        }

        private void write(List<Change> chunk) {
            for (Change change : chunk) {
                if (givenUp) {
                    return;
                }
                codecs.logged.write(new Logged(0, change), record);
                relationOids.add(change.relation().oid());
                changes++;
                if (record.length() >= pieceBytes) {
                    endPiece();
                }
            }
        }

        private void endPiece() {
            byte[] bytes = record.array();
            for (int i = 0; i < 4; i++) {
                bytes[i] = (byte) (changes >>> (24 - 8 * i));
            }
            if (!file.write(bytes, 0, record.length())) {
                abandon();
                return;
            }
            pieces.add(new Piece(position, record.length(), new LinkedHashSet<>(relationOids)));
            position += record.length();
            clear();
        }

        private void clear() {
            record.clear();
            record.putInt(0);
            relationOids.clear();
            changes = 0;
        }

        /// @return null when there was no room
        @Nullable
        KeptCommit finish() {
            if (changes > 0 && !givenUp) {
                endPiece();
            }
            if (givenUp) {
                return null;
            }
            givenUp = true;
            return new KeptCommit(file.finish(), codecs, pieces, netFrom);
        }

        /// Forgets it, unless it is finished.
        void abandon() {
            if (!givenUp) {
                givenUp = true;
                file.abandon();
            }
        }
    }
}
