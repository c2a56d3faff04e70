package sluice.server.postgres.wal;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.Lsn;
import sluice.core.wal.SlotName;

/// The slot as the server describes it, and the few commands about it. All run on the replication connection.
///
/// @param lost why it can no longer deliver everything since its confirmed position, null while it can
record ReplicationSlot(
        String plugin,
        String database,
        Kind kind,
        Lsn confirmed,
        @Nullable String lost) {
    /// Whether it outlives its session.
    enum Kind {
        PERMANENT,
        TEMPORARY
    }

    /// Reads the slot; null when there is none of this name.
    static @Nullable ReplicationSlot read(Connection connection, SlotName name) throws SQLException {
        // the columns that tell of an invalidation differ from 15 to 18, so they are taken by name from the row
        String sql = "SELECT plugin, database, temporary, confirmed_flush_lsn::text, wal_status,"
                + " to_jsonb(s) ->> 'invalidation_reason', slot_type"
                + " FROM pg_catalog.pg_replication_slots s WHERE slot_name = '" + name.text() + "'";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            if (!row.next()) {
                return null;
            }
            String confirmed = row.getString(4);
            String reason = row.getString(6);
            String lost = reason != null ? reason : "lost".equals(row.getString(5)) ? "wal_removed" : null;
            return new ReplicationSlot(
                    orEmpty(row.getString(1)),
                    orEmpty(row.getString(2)),
                    row.getBoolean(3) ? Kind.TEMPORARY : Kind.PERMANENT,
                    confirmed == null ? Lsn.ZERO : Lsn.parse(confirmed),
                    lost);
        }
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    /// Waits for every transaction that has an id now.
    ///
    /// @return from where on commits are delivered
    static Lsn create(Connection connection, SlotName name) throws SQLException {
        String sql = "CREATE_REPLICATION_SLOT " + name.text() + " LOGICAL pgoutput NOEXPORT_SNAPSHOT";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            String point = row.next() ? row.getString("consistent_point") : null;
            return point == null ? Lsn.ZERO : Lsn.parse(point);
        }
    }

    /// Fails while a process streams from it.
    static void drop(Connection connection, SlotName name) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DROP_REPLICATION_SLOT " + name.text());
        }
    }

    /// @throws ReplicationException when it is somebody else's
    void requireOurs(SlotName name, String ourDatabase) {
        if (!plugin.equals("pgoutput")) {
            throw new ReplicationException("slot \"" + name + "\" uses plugin \"" + plugin
                    + "\" instead of pgoutput; set SLUICE_SLOT_NAME to another name or drop it");
        }
        if (!database.equals(ourDatabase)) {
            throw new ReplicationException("slot \"" + name + "\" belongs to database \"" + database + "\", not \""
                    + ourDatabase + "\"; set SLUICE_SLOT_NAME to another name");
        }
        if (kind == Kind.TEMPORARY) {
            throw new ReplicationException("slot \"" + name
                    + "\" is temporary and ends with the session that made it; set SLUICE_SLOT_NAME to another name");
        }
    }
}
