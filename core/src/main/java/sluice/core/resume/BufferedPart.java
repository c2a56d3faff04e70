package sluice.core.resume;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptKeys;

/// What one commit did to one table. Immutable but for its place in the buffer, so whoever reads it may go on when
/// the buffer has let go of it.
public final class BufferedPart extends BufferedEntry {
    private final int relationOid;
    private final List<Change> changes = new ArrayList<>(1);
    private final List<Integer> places = new ArrayList<>(0);
    private final List<Change> everyImage = new ArrayList<>(0);
    private final List<Integer> imagePlaces = new ArrayList<>(0);
    private @Nullable BufferedFile file;
    private @Nullable KeptKeys keys;
    private boolean keysUnknown;
    private boolean spared;

    BufferedPart(BufferedCommit commit, int relationOid, Instant keptAt) {
        super(commit, keptAt);
        this.relationOid = relationOid;
    }

    public int relationOid() {
        return relationOid;
    }

    /// Where the changes are instead, all tables' together, when the commit was spilled.
    public @Nullable BufferedFile file() {
        return file;
    }

    void liesIn(BufferedFile kept) {
        file = kept;
        kept.parts().add(this);
        kept.retain();
    }

    /// Which rows it changed, of a part that lies in a file and of which somebody had to know.
    public @Nullable KeptKeys keys() {
        return keys;
    }

    void know(KeptKeys rows) {
        keys = rows;
    }

    /// Nobody will know which rows it changed: they are too many, or cannot be read.
    public void refuseKeys() {
        keysUnknown = true;
    }

    public boolean refusesKeys() {
        return keysUnknown;
    }

    /// Net images, in delivery order; none when they lie in a file.
    public List<Change> changes() {
        return changes;
    }

    /// Where the change at this index stands among all changes of the commit.
    public int place(int index) {
        return places.isEmpty() ? index : places.get(index);
    }

    /// Every image in the order of the log; empty where only net images are kept.
    public List<Change> everyImage() {
        return everyImage;
    }

    /// @param place where it stands among all changes of the commit; noted only once it is another than among these
    void add(Change change, int place) {
        if (!places.isEmpty() || place != changes.size()) {
            while (places.size() < changes.size()) {
                places.add(places.size());
            }
            places.add(place);
        }
        changes.add(change);
    }

    /// Where the image at this index stands among all images of the commit.
    public int imagePlace(int index) {
        return imagePlaces.get(index);
    }

    void addImage(Change change, int place) {
        everyImage.add(change);
        imagePlaces.add(place);
    }

    /// Whether it is kept past its time because it is its table's newest.
    boolean isSpared() {
        return spared;
    }

    void spare() {
        spared = true;
    }
}
