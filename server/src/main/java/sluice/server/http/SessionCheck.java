package sluice.server.http;

import sluice.core.session.Identity;

/// Whether the session a token names still exists, and its user is not banned. Thread-safe.
public interface SessionCheck {
    /// Nothing is looked up.
    SessionCheck NONE = new SessionCheck() {
        @Override
        public boolean mustAsk(Identity caller) {
            return false;
        }

        @Override
        public Outcome ask(Identity caller) {
            return Outcome.PRESENT;
        }
    };

    /// What came of a look-up.
    enum Outcome {
        PRESENT,
        MISSING,
        BANNED,
        /// Nothing is known: the database did not answer in time.
        UNAVAILABLE
    }

    /// Whether session or user have to be looked up before the caller comes in. Never waits.
    boolean mustAsk(Identity caller);

    /// Looks them up. Called on virtual threads; waits, for a bounded time.
    Outcome ask(Identity caller);
}
