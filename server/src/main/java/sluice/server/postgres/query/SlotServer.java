package sluice.server.postgres.query;

/// The server and database that the log is read from.
///
/// @param timeline of the write position
public record SlotServer(String systemIdentifier, int timeline, String database) {}
