package sluice.server.postgres.wal;

/// Replication cannot go on, and trying again would not help: the process stops and says why.
public class ReplicationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ReplicationException(String message) {
        super(message);
    }
}
