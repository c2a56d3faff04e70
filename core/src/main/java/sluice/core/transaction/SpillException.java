package sluice.core.transaction;

/// A commit can neither be held in memory nor spilled. Definite: the process stops, the slot stays where it is, and
/// the commit comes again once there is room.
public final class SpillException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// @param message names the setting that gives more room
    public SpillException(String message) {
        super(message);
    }

    public SpillException(String message, Throwable cause) {
        super(message, cause);
    }
}
