package sluice.server.postgres.wal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGConnection;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationStream;
import org.postgresql.replication.fluent.logical.ChainedLogicalStreamBuilder;
import sluice.core.wal.Lsn;
import sluice.server.postgres.PinnedSettings;
import sluice.server.postgres.PostgresUrl;

/// One replication session: opened, asked who it talks to, then streaming until it breaks. One thread.
///
/// It holds the connection as well as the stream, since the driver closes a connection that nobody refers to.
final class ReplicationConnection implements AutoCloseable {
    private final Connection connection;
    private final SocketWatch watch;
    private @Nullable PGReplicationStream stream;

    /// What `IDENTIFY_SYSTEM` says.
    record SystemIdentity(String systemId, int timeline, String database) {}

    private ReplicationConnection(Connection connection, SocketWatch watch) {
        this.connection = connection;
        this.watch = watch;
    }

    static ReplicationConnection open(PostgresUrl url, ReaderClock clock) throws SQLException {
        SocketWatch watch = new SocketWatch(clock);
        Properties properties = url.withReplication().driverProperties();
        properties.setProperty("socketFactory", SocketWatch.Factory.class.getName());
        // The driver's login timeout connects on a thread of its own; time limits on the socket do the same here.
        String seconds = properties.getProperty("loginTimeout", "15");
        properties.remove("loginTimeout");
        properties.setProperty("connectTimeout", seconds);
        properties.setProperty("socketTimeout", seconds);
        Connection connection = ScopedValue.where(SocketWatch.CURRENT, watch)
                .call(() -> new Driver().connect(url.jdbcUrl(), properties));
        if (connection == null) {
            throw new SQLException("no replication connection", "08001");
        }
        ReplicationConnection opened = new ReplicationConnection(connection, watch);
        try {
            PinnedSettings.pin(connection);
        } catch (SQLException | RuntimeException e) {
            opened.close();
            throw e;
        }
        return opened;
    }

    Connection sql() {
        return connection;
    }

    int backendPid() throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    int serverMajor() throws SQLException {
        return connection.getMetaData().getDatabaseMajorVersion();
    }

    SystemIdentity identify() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("IDENTIFY_SYSTEM")) {
            if (!row.next()) {
                throw new SQLException("IDENTIFY_SYSTEM without an answer", "08P01");
            }
            return new SystemIdentity(row.getString("systemid"), row.getInt("timeline"), row.getString("dbname"));
        }
    }

    boolean isInRecovery() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_catalog.pg_is_in_recovery()")) {
            return row.next() && row.getBoolean(1);
        }
    }

    /// Where a timeline was left for the one given; null when its history does not name it.
    @Nullable
    Lsn switchPoint(int left, int timeline) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("TIMELINE_HISTORY " + timeline)) {
            if (!row.next()) {
                return null;
            }
            for (String line : new String(row.getBytes(2), StandardCharsets.UTF_8).split("\n")) {
                String[] fields = line.trim().split("\\s+");
                if (fields.length >= 2 && fields[0].equals(Integer.toString(left))) {
                    return Lsn.parse(fields[1]);
                }
            }
            return null;
        }
    }

    /// Lifts the limit on how long the server may take to answer; creating a slot takes as long as the oldest
    /// transaction.
    void waitWithoutLimit() throws SQLException {
        connection.setNetworkTimeout(Runnable::run, 0);
    }

    /// Starts streaming. The driver acknowledges nothing by itself.
    ///
    /// @param from zero for the slot's confirmed position
    void start(WalReader.Source source, int protocol, Lsn from) throws SQLException {
        connection.setNetworkTimeout(Runnable::run, 0);
        String publication = "\"" + source.publication().replace("\"", "\"\"").replace("'", "''") + "\"";
        ChainedLogicalStreamBuilder builder = connection
                .unwrap(PGConnection.class)
                .getReplicationAPI()
                .replicationStream()
                .logical()
                .withSlotName(source.slot().text())
                .withStartPosition(LogSequenceNumber.valueOf(from.bits()))
                .withAutomaticFlush(false)
                .withStatusInterval((int) source.statusInterval().toMillis(), TimeUnit.MILLISECONDS)
                .withSlotOption("proto_version", protocol)
                .withSlotOption("publication_names", publication)
                .withSlotOption("messages", source.messages() == WalReader.Messages.DELIVERED ? "true" : "false");
        stream = builder.start();
    }

    private PGReplicationStream streaming() {
        PGReplicationStream started = stream;
        if (started == null) {
            throw new IllegalStateException("not streaming");
        }
        return started;
    }

    /// The next message, null when none has come.
    @Nullable
    ByteBuffer readPending() throws SQLException {
        return streaming().readPending();
    }

    /// The position of what was read last: of the last message, or the log's end by a later keepalive.
    Lsn received() {
        return new Lsn(streaming().getLastReceiveLSN().asLong());
    }

    /// What every acknowledgement says from now on.
    void confirm(Lsn lsn) {
        LogSequenceNumber position = LogSequenceNumber.valueOf(lsn.bits());
        streaming().setFlushedLSN(position);
        streaming().setAppliedLSN(position);
    }

    /// Sends an acknowledgement and asks the server to answer.
    void acknowledge() throws SQLException {
        streaming().forceUpdateStatus();
    }

    boolean isBroken() {
        return streaming().isClosed();
    }

    /// Breaks the connection when nothing, not even a keepalive, arrives for so long.
    void limitSilence(long nanos) {
        watch.limitSilence(nanos);
    }

    /// How long nothing has come from the server; any thread.
    long silentNanos() {
        return watch.silentNanos();
    }

    /// Says that nobody has listened until now, so that silence is counted from here.
    void listenAnew() {
        watch.listenAnew();
    }

    /// Ends the session at once, without waiting for the server to agree.
    @Override
    public void close() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // it was broken already, which is why it is closed
            return;
        }
    }
}
