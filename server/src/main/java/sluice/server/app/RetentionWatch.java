package sluice.server.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.diagnostics.Finding;
import sluice.core.dispatch.Notice;
import sluice.core.wal.SlotName;
import sluice.server.postgres.query.OldestTransaction;
import sluice.server.postgres.query.SlotStatus;

/// Says when the slot nears what `max_slot_wal_keep_size` lets it keep: once at half of it, once more from 80%, and
/// when it is back under 40%. Past all of it the slot is lost. {@link #look} is one thread's; {@link #finding} any's.
final class RetentionWatch {
    private static final double HALF = 0.5;
    private static final double NEAR = 0.8;
    private static final double BACK = 0.4;

    private enum Told {
        NOTHING,
        HALF,
        NEAR
    }

    private final SlotName slot;
    private final Supplier<@Nullable OldestTransaction> oldest;
    private final Consumer<Notice> log;
    private final AtomicReference<@Nullable Finding> finding = new AtomicReference<>();
    private Told told = Told.NOTHING;

    /// @param oldest asked only while the slot is past half
    RetentionWatch(SlotName slot, Supplier<@Nullable OldestTransaction> oldest, Consumer<Notice> log) {
        this.slot = slot;
        this.oldest = oldest;
        this.log = log;
    }

    /// What is to be said of the slot now, null while there is nothing.
    @Nullable
    Finding finding() {
        return finding.get();
    }

    void look(SlotStatus status) {
        double share = share(status);
        if (told != Told.NOTHING && share < BACK) {
            told = Told.NOTHING;
            finding.set(null);
            tell(Notice.Level.INFO, "replication slot is back under half of max_slot_wal_keep_size", status, List.of());
        }
        if (share < HALF && told == Told.NOTHING) {
            return;
        }
        // the slot is kept from moving by what is not confirmed, or by a transaction that is open
        boolean unconfirmed = status.lagBytes() >= status.retainedBytes() / 2;
        OldestTransaction holder = unconfirmed ? null : oldest.get();
        finding.set(finding(status, share, holder));
        Told now = share >= NEAR ? Told.NEAR : Told.HALF;
        if (now.compareTo(told) > 0) {
            told = now;
            tell(
                    now == Told.NEAR ? Notice.Level.ERROR : Notice.Level.WARN,
                    "replication slot nears max_slot_wal_keep_size; past it the slot is lost",
                    status,
                    holder == null
                            ? List.of("unconfirmed_bytes", Long.toString(status.lagBytes()))
                            : List.of("held_by", holder.name()));
        }
    }

    /// Zero without a limit.
    private static double share(SlotStatus status) {
        Long safe = status.safeBytes();
        if (safe == null) {
            return 0;
        }
        double may = status.retainedBytes() + (double) Math.max(0, safe);
        return may <= 0 ? 0 : status.retainedBytes() / may;
    }

    private static Finding finding(SlotStatus status, double share, @Nullable OldestTransaction holder) {
        String percent = Math.round(share * 100) + "% of the log it may keep";
        return new Finding(
                "slot_wal_retention",
                share >= NEAR ? Finding.Severity.HIGH : Finding.Severity.MEDIUM,
                null,
                null,
                holder == null
                        ? "the slot keeps " + percent + ", of which this server has not confirmed " + status.lagBytes()
                                + " bytes"
                        : "the slot keeps " + percent + ", held by " + holder.name() + ", which is open",
                "past max_slot_wal_keep_size the slot is lost, and every stream ends",
                holder == null
                        ? "find out what keeps this server from dispatching, or raise max_slot_wal_keep_size"
                        : holder.remedy());
    }

    private void tell(Notice.Level level, String message, SlotStatus status, List<String> more) {
        List<String> fields = new ArrayList<>(List.of(
                "slot",
                slot.text(),
                "share",
                String.format(Locale.ROOT, "%.2f", share(status)),
                "retained_bytes",
                Long.toString(status.retainedBytes()),
                "safe_wal_bytes",
                String.valueOf(status.safeBytes())));
        fields.addAll(more);
        log.accept(new Notice(level, message, fields));
    }
}
