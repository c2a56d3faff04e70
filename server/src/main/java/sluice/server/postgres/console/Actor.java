package sluice.server.postgres.console;

/// Who a statement is run as.
public sealed interface Actor {
    /// The role that the connection was opened with, no switch.
    record Owner() implements Actor {}

    /// Another role, for one transaction, with the claims that policies read.
    ///
    /// @param claims a JSON object as text, for `request.jwt.claims`; empty for a caller without a token
    record Caller(String role, String claims) implements Actor {
        /// Claims are never printed.
        @Override
        public String toString() {
            return "Caller[role=" + role + "]";
        }
    }
}
