package sluice.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/// Inserts rows at a steady rate, each in a transaction of its own. One thread's.
///
/// A write that takes longer than its turn does not move the next one's turn, so that a slow moment is not hidden by
/// fewer writes.
final class PacedWriter implements AutoCloseable {
    private static final String INSERT =
            "INSERT INTO public.bench_feed (n, room_id, author_id, visibility, t) VALUES (?, ?, ?, 'everyone', ?)";

    private final Connection connection;
    private final PreparedStatement insert;
    private final UUID author = new UUID(0x5eed_0000_0000_4000L, 0x8000_0000_0000_0000L);
    private int written;

    PacedWriter(Connection connection) throws SQLException {
        this.connection = connection;
        this.insert = connection.prepareStatement(INSERT);
    }

    /// Rows so far, which is the number of the last one.
    int written() {
        return written;
    }

    /// Blocks until the last row of them is committed.
    void write(int rows, int perSecond) throws SQLException {
        long turn = System.nanoTime();
        for (int i = 0; i < rows; i++) {
            for (long left = turn - System.nanoTime(); left > 0; left = turn - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            insert.setLong(1, written + 1L);
            insert.setLong(2, Tables.ROOM);
            insert.setObject(3, author);
            Instant now = Instant.now();
            insert.setLong(4, now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000);
            insert.executeUpdate();
            written++;
            turn += 1_000_000_000L / perSecond;
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
