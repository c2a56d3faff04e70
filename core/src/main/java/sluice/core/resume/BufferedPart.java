package sluice.core.resume;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.core.transaction.Change;

/// What one commit did to one table. Immutable but for its place in the buffer, so whoever reads it may go on when
/// the buffer has let go of it.
public final class BufferedPart {
    private final BufferedCommit commit;
    private final int relationOid;
    private final List<Change> changes = new ArrayList<>(1);
    private final List<Integer> places = new ArrayList<>(0);
    private final List<Change> everyImage = new ArrayList<>(0);
    private final List<Integer> imagePlaces = new ArrayList<>(0);
    private final Instant keptAt;
    private long weightBytes;
    private boolean inBuffer = true;
    private boolean spared;

    BufferedPart(BufferedCommit commit, int relationOid, Instant keptAt) {
        this.commit = commit;
        this.relationOid = relationOid;
        this.keptAt = keptAt;
    }

    public BufferedCommit commit() {
        return commit;
    }

    public int relationOid() {
        return relationOid;
    }

    /// Net images, in delivery order.
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

    Instant keptAt() {
        return keptAt;
    }

    long weightBytes() {
        return weightBytes;
    }

    void weigh(long bytes) {
        weightBytes = bytes;
    }

    boolean isInBuffer() {
        return inBuffer;
    }

    void evicted() {
        inBuffer = false;
    }

    /// Whether it is kept past its time because it is its table's newest.
    boolean isSpared() {
        return spared;
    }

    void spare() {
        spared = true;
    }
}
