package sluice.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import sluice.bench.client.WallClock;

/// Inserts rows, each in a transaction of its own.
final class PacedWriter extends PacedSource {
    private final Connection connection;
    private final PreparedStatement insert;
    private final UUID author = new UUID(0x5eed_0000_0000_4000L, 0x8000_0000_0000_0000L);

    PacedWriter(Connection connection, String table) throws BenchException {
        this.connection = connection;
        try {
            this.insert = connection.prepareStatement("INSERT INTO public." + table
                    + " (n, room_id, author_id, visibility, t) VALUES (?, ?, ?, 'everyone', ?)");
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    @Override
    void give(int number) throws BenchException {
        try {
            insert.setLong(1, number);
            insert.setLong(2, Tables.ROOM);
            insert.setObject(3, author);
            insert.setLong(4, WallClock.micros());
            insert.executeUpdate();
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static BenchException failed(SQLException problem) {
        return new BenchException("writing failed: " + problem.getMessage());
    }

    @Override
    public void close() throws BenchException {
        try {
            connection.close();
        } catch (SQLException e) {
            throw failed(e);
        }
    }
}
