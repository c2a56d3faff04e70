package sluice.core.event;

import java.nio.charset.StandardCharsets;

/// An event a stream can do without: a broadcast or presence. It is never the reason a stream ends, and never takes
/// the place of a change: where the stream's queue is full it is dropped and counted. Only a broadcast that is part
/// of a commit is kept with it where the queue is full, and is no less than a change then.
///
/// Everybody in a channel shares one. A frame is {@link Kind#head}, the subscription's label as JSON, and the tail.
///
/// @param tail begins with `,"channel":` and ends with the blank line; shared by all shards; read only
public record PassingEvent(Kind kind, byte[] tail) {
    /// What is dropped is counted by this.
    public enum Kind {
        BROADCAST("broadcast"),
        PRESENCE("presence");

        private final String wireName;

        @SuppressWarnings("ImmutableEnumChecker") // never written to after this
        private final byte[] head;

        Kind(String wireName) {
            this.wireName = wireName;
            this.head = ("event: " + wireName + "\ndata: {\"sub\":").getBytes(StandardCharsets.US_ASCII);
        }

        public String wireName() {
            return wireName;
        }

        /// The frame up to the label; read only.
        public byte[] head() {
            return head;
        }
    }

    /// Bytes a queued event is charged with, its head estimated.
    public int weightBytes() {
        return tail.length + 64;
    }
}
