package sluice.core.dispatch;

import java.time.Duration;
import sluice.core.authorization.Tier;
import sluice.core.catalog.Relation;
import sluice.core.event.PassingEvent;
import sluice.core.event.SubscriptionResult;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.shape.Operation;

/// What the engine counts. Called on the engine's thread; must never wait.
public interface EngineMetrics {
    /// How a resolution of a shape's rule ended.
    enum Resolution {
        GRANTED,
        DENIED,
        REFUSED,
        UNAVAILABLE
    }

    void change(Relation relation, Operation operation);

    void candidates(Relation relation, int named);

    /// A change that could not be decided was not delivered.
    void withheld(Relation relation, Operation operation);

    /// A delete that could not be decided was sent with its key only.
    void degradedDelete(Relation relation);

    /// A change was too large to be sent whole.
    void cut(RelationDefinition table);

    void unchangedToast(Relation relation, String column);

    /// A rule or filter raised on a row.
    void evaluationFailed(Relation relation);

    void probed(Relation relation);

    void probeWithheld(Relation relation);

    /// @param took from the request for the rule to its end
    void resolved(Tier tier, Resolution resolution, Duration took);

    /// A rule could not be compiled, for this reason.
    void notCompiled(Relation relation, String reason);

    void subscriptions(Relation relation, Tier tier, SubscriptionResult.Indexing indexing, int delta);

    /// What came of asking PostgreSQL to confirm a decision.
    enum CheckResult {
        AGREED,
        DIVERGED,
        /// Rights or functions moved in between.
        INCOMPARABLE,
        /// PostgreSQL raised, or did not answer in time.
        FAILED,
        /// Too many were unanswered, or the image was too large to keep.
        DROPPED
    }

    /// Which way a decision was wrong.
    enum Divergence {
        /// A row was shown that PostgreSQL does not show.
        WE_SAID_YES("we_said_yes"),
        /// A row was kept back that PostgreSQL shows.
        WE_SAID_NO("we_said_no"),
        /// A row was shown for which PostgreSQL raises, so that it shows no row at all.
        POSTGRESQL_RAISED("postgresql_raised");

        private final String wireName;

        Divergence(String wireName) {
            this.wireName = wireName;
        }

        /// As it is logged and counted.
        public String wireName() {
            return wireName;
        }
    }

    void crossChecked(Relation relation, CheckResult result);

    void diverged(Relation relation, Divergence kind);

    /// Whether a client that came back missed nothing.
    enum Resumed {
        YES,
        NO
    }

    /// A client came back to where it was.
    void resumed(Resumed outcome);

    /// What the buffer of recent commits holds, and how far back it covers every table.
    void buffered(long bytes, Duration age);

    /// A rule is decided by PostgreSQL from here on.
    void downgraded(Relation relation);

    /// What somebody may no longer be served for.
    enum RevocationSource {
        SESSION("session"),
        BAN("ban");

        private final String wireName;

        RevocationSource(String wireName) {
            this.wireName = wireName;
        }

        /// As it is counted.
        public String wireName() {
            return wireName;
        }
    }

    /// A session ended, or a user was banned.
    void revoked(RevocationSource source);

    /// What came of looking again at what the time may have taken away.
    enum LeaseResult {
        HELD,
        REVOKED,
        /// PostgreSQL did not answer.
        UNAVAILABLE
    }

    void leaseChecked(LeaseResult result);

    /// Who sent a broadcast.
    enum BroadcastOrigin {
        CLIENT,
        DATABASE
    }

    /// @param namespace a declared one, or that it is none
    void broadcast(String namespace, BroadcastOrigin origin);

    /// @param namespace a declared one
    void presenceUpdated(String namespace, ControlRequest.Presence.Action action);

    /// An event that a stream can do without found its queue full.
    void dropped(PassingEvent.Kind kind);

    /// What came of asking about joins again.
    enum HookRecheck {
        HELD,
        REVOKED,
        UNAVAILABLE
    }

    /// @param joins how many live on the verdict
    void hookRechecked(HookRecheck result, int joins);

    /// A commit that had been dispatched before came again and was discarded.
    void duplicateDiscarded();
}
