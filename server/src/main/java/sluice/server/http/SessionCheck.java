package sluice.server.http;

import sluice.core.session.Identity;

/// Whether the session a token names still exists. Thread-safe.
public interface SessionCheck {
    /// Sessions are not looked up.
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
        /// Nothing is known: the database did not answer in time.
        UNAVAILABLE
    }

    /// Whether the session has to be looked up before the caller comes in. Never waits.
    boolean mustAsk(Identity caller);

    /// Looks the session up. Called on virtual threads; waits, for a bounded time.
    Outcome ask(Identity caller);
}
