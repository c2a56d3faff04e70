package sluice.core.event;

/// The part of a change event that every subscriber of one projection shares, encoded once.
///
/// A frame is `event: change\nid: LSN:SEQ\ndata: {"sub":LABEL,"seq":SEQ,` followed by {@link #tail}, which begins
/// with `"op":` and ends with the blank line. The stream's shard puts the head in front.
///
/// @param commitLsn the LSN as ASCII bytes, for the head's id; empty for a row of no commit, whose frame has no id
/// @param tail shared by all shards; read only
public record EventBody(byte[] commitLsn, byte[] tail) {
    /// Whether a client can come back to where the event was, so that its frame has an id.
    public boolean hasPosition() {
        return commitLsn.length > 0;
    }

    /// Bytes a queued event is charged with, its head estimated.
    public int weightBytes() {
        return tail.length + 64;
    }
}
