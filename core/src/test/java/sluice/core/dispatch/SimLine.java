package sluice.core.dispatch;

import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// The way of a world's log into its engine, event by event, and which commit is on it.
///
/// @param <C> a commit, as the world knows it
final class SimLine<C extends SimLine.Committed> {
    /// What is to be known of a commit.
    interface Committed {
        Lsn lsn();

        Lsn end();
    }

    record Logged<C>(WalEvent event, C commit) {
        boolean endsCommit() {
            return event instanceof WalEvent.Committed || event instanceof WalEvent.SpilledEnd;
        }
    }

    /// The reader of the log.
    interface Log<C> {
        /// The next event; null when everything has been read.
        @Nullable
        Logged<C> next();

        boolean isBetweenCommits();

        /// The connection was lost, and has come back.
        void reconnect();
    }

    private final Log<C> log;
    private final Random random;
    private final Supplier<Lsn> end;
    private final Consumer<C> dispatched;
    private @Nullable C inHand;
    private @Nullable C parked;

    /// @param end where the log ends by now
    /// @param dispatched told of each commit once the engine has begun with it
    SimLine(Log<C> log, Random random, Supplier<Lsn> end, Consumer<C> dispatched) {
        this.log = log;
        this.random = random;
        this.end = end;
        this.dispatched = dispatched;
    }

    /// The commit the engine is at.
    @Nullable
    C current() {
        return parked != null ? parked : inHand;
    }

    /// Whether a connection may be lost here without a part of a commit.
    boolean isFree() {
        return inHand == null && log.isBetweenCommits();
    }

    /// The engine has taken a step: what it was waiting with may have gone.
    void stepped(SimDriver<?> driver) {
        C waiting = parked;
        if (waiting != null && driver.engine().acceptsWal()) {
            dispatched.accept(waiting);
            parked = null;
        }
    }

    /// @return whether there was an event and the engine took it
    boolean deliver(SimDriver<?> driver) {
        if (!driver.engine().acceptsWal()) {
            return false;
        }
        Logged<C> next = log.next();
        if (next == null) {
            if (random.nextInt(3) == 0 || driver.isCalm()) {
                driver.mayConfirm = driver.mayConfirm.max(end.get());
                driver.step(new Input.Wal(new WalEvent.Idle(end.get())));
            }
            return false;
        }
        C commit = next.commit();
        inHand = commit;
        boolean ends = next.endsCommit();
        if (ends) {
            driver.mayConfirm = driver.mayConfirm.max(commit.end());
        }
        driver.step(new Input.Wal(next.event()));
        if (driver.engine().acceptsWal()) {
            dispatched.accept(commit);
        } else {
            parked = commit;
            if (driver.confirmed.isAfter(commit.lsn())) {
                throw new AssertionError("ACK_IS_SAFE: a parked commit is confirmed");
            }
        }
        inHand = ends ? null : commit;
        return true;
    }

    /// The connection is lost, unless a commit is on its way in parts.
    void interrupt(SimDriver<?> driver) {
        if (isFree()) {
            log.reconnect();
            driver.step(new Input.Interrupted());
        }
    }
}
