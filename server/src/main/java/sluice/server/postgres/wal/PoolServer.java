package sluice.server.postgres.wal;

/// The server and database that an ordinary session of the pool's URL reached.
///
/// @param timeline of the write position, 0 on a standby
public record PoolServer(String systemIdentifier, int timeline, String database, Role role) {
    /// Whether it takes writes.
    public enum Role {
        PRIMARY,
        STANDBY
    }
}
