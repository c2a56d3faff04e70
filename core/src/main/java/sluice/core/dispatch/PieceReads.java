package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.transaction.Change;

/// Who holds a piece of a commit that lies in a file, who has asked for one and who waits for his turn. At most
/// {@value #PIECES_MAX} are held or asked for; a reader that cannot go on gives its piece back. Owned by the engine's
/// thread.
final class PieceReads {
    private static final int PIECES_MAX = 32;

    private final EffectSink effects;
    private final LongSupplier requestIds;

    /// Whoever is gone by the time of the answer is not here any more; his turn lasts until the answer.
    private final Map<Long, @Nullable Lane> askedById = new LinkedHashMap<>();

    private final Set<Lane> holding = new LinkedHashSet<>();
    private final ArrayDeque<Lane> waiting = new ArrayDeque<>();

    PieceReads(EffectSink effects, LongSupplier requestIds) {
        this.effects = effects;
        this.requestIds = requestIds;
    }

    /// The reader needs its next piece. Once only, until it has been answered.
    void ask(Lane lane) {
        if (!waiting.contains(lane) && !askedById.containsValue(lane)) {
            waiting.addLast(lane);
            next();
        }
    }

    private void next() {
        while (askedById.size() + holding.size() < PIECES_MAX) {
            Lane lane = waiting.pollFirst();
            if (lane == null) {
                return;
            }
            long id = requestIds.getAsLong();
            askedById.put(id, lane);
            effects.emit(new Effect.ReadPiece(id, lane.file().kept(), lane.piece()));
        }
    }

    /// @return who asked, having taken the piece; null when nobody wants it any more
    @Nullable
    Lane answered(long id, @Nullable List<Change> changes) {
        Lane lane = askedById.remove(id);
        if (lane != null && changes != null) {
            lane.take(changes);
            if (lane.hasPiece()) {
                holding.add(lane);
            }
        }
        next();
        return lane;
    }

    /// How it goes with a reader.
    enum Progress {
        GOES_ON,
        /// It has to wait for its client.
        STALLED
    }

    /// The reader may have come to the end of its piece, or have to wait for its client.
    void look(Lane lane, Progress progress) {
        if (holding.contains(lane)) {
            if (progress == Progress.STALLED) {
                lane.putBack();
            }
            if (!lane.hasPiece()) {
                holding.remove(lane);
                next();
            }
        }
    }

    void forget(Lane lane) {
        waiting.remove(lane);
        holding.remove(lane);
        askedById.replaceAll((_, asking) -> asking == lane ? null : asking);
        next();
    }
}
