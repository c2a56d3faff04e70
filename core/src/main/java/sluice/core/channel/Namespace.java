package sluice.core.channel;

/// A declared namespace: everything before the first `:` of its channels' names.
public record Namespace(String name, Admission admission) {
    /// Who may join the namespace's channels.
    public sealed interface Admission {
        /// Any valid token.
        record Everyone() implements Admission {}

        /// A token whose `sub` the channel's name ends with, after a `:`.
        record Owner() implements Admission {}

        /// Whoever this endpoint allows.
        record Hook(String url) implements Admission {}
    }
}
