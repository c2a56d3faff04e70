package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogScope;

/// When the whole catalog is read again: on its tick, and whenever the rights poll says that rights moved which the
/// log does not tell of. One poll and one load are out at a time; an answer that never comes frees its place after
/// a while.
///
/// No commit waits for these answers, so they need not show any: one that is older than what a table was last read
/// by leaves that table alone ({@link RightsKeeper#apply}), a table announced meanwhile is read again by the line,
/// and what the log is silent about the next poll sees. Owned by the engine's thread.
final class CatalogSchedule {
    private static final Duration LOAD_PATIENCE = Duration.ofSeconds(30);

    private final EffectSink effects;
    private final EngineSettings settings;
    private final LongSupplier requestIds;

    private long loadOut;
    private boolean loadAgain;
    private Instant loadDeadline = Instant.EPOCH;
    private Instant nextLoad = Instant.EPOCH;
    private @Nullable String rightsSeen;
    private boolean pollOut;
    private Instant pollDeadline = Instant.EPOCH;
    private Instant nextPoll = Instant.EPOCH;

    CatalogSchedule(EffectSink effects, EngineSettings settings, LongSupplier requestIds) {
        this.effects = effects;
        this.settings = settings;
        this.requestIds = requestIds;
    }

    void tick(Instant now) {
        if (loadOut != 0 && now.isAfter(loadDeadline)) {
            loaded(null, now);
        }
        if (!now.isBefore(nextLoad)) {
            nextLoad = now.plus(settings.catalogRefresh());
            load(now);
        }
        if (pollOut && now.isAfter(pollDeadline)) {
            pollOut = false;
        }
        if (!pollOut && !now.isBefore(nextPoll)) {
            nextPoll = now.plus(settings.rightsPoll());
            pollDeadline = now.plus(settings.questionTimeout());
            pollOut = true;
            effects.emit(new Effect.PollRights());
        }
    }

    /// @param fingerprint null when the poll failed: the last good state stays, and the next poll is soon
    void polled(@Nullable String fingerprint, Instant now) {
        pollOut = false;
        // the first answer may already be newer than the catalog the engine began with
        if (fingerprint != null && !fingerprint.equals(rightsSeen)) {
            rightsSeen = fingerprint;
            load(now);
        }
    }

    /// Whether the last good poll found what the catalog was read by.
    CrossChecks.Catalog catalog() {
        return rightsSeen != null && loadOut == 0 ? CrossChecks.Catalog.AS_POLLED : CrossChecks.Catalog.MAY_HAVE_MOVED;
    }

    /// Another server answers from now on: what is out is not waited for, and everything is asked for at once.
    void restart() {
        loadOut = 0;
        loadAgain = false;
        nextLoad = Instant.EPOCH;
        rightsSeen = null;
        pollOut = false;
        nextPoll = Instant.EPOCH;
    }

    /// Some tables were read again and rights had moved: whether the last poll saw them so is not known.
    void movedBesides() {
        rightsSeen = null;
    }

    boolean isOut(long requestId) {
        return loadOut != 0 && requestId == loadOut;
    }

    /// The load that is out was answered, or failed.
    ///
    /// @param rights what the poll says of the state that was loaded, which need not be what the last poll said:
    /// rights may have moved in between and back again since, and the next poll must notice. Null when that is
    /// not known or the load failed: the next poll asks for it again.
    void loaded(@Nullable String rights, Instant now) {
        loadOut = 0;
        rightsSeen = rights;
        if (loadAgain) {
            load(now);
        }
    }

    private void load(Instant now) {
        if (loadOut != 0) {
            loadAgain = true;
            return;
        }
        loadAgain = false;
        loadOut = requestIds.getAsLong();
        loadDeadline = now.plus(LOAD_PATIENCE);
        effects.emit(new Effect.LoadCatalog(loadOut, new CatalogScope.Everything()));
    }
}
