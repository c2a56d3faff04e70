package sluice.server.postgres.wal;

/// The slot is gone, invalidated, or not the one it was: it can no longer deliver every change since the position
/// last confirmed. Streaming on would hide the gap.
public final class SlotLostException extends ReplicationException {
    private static final long serialVersionUID = 1L;

    public SlotLostException(String message) {
        super(message);
    }
}
