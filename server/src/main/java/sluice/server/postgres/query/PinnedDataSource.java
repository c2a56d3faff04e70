package sluice.server.postgres.query;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import sluice.server.postgres.PostgresUrl;

/// Opens connections whose session settings are pinned. Safe for any thread.
final class PinnedDataSource implements DataSource {
    private final PostgresUrl url;

    PinnedDataSource(PostgresUrl url) {
        this.url = url;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Properties properties = url.driverProperties();
        properties.putIfAbsent("ApplicationName", "sluice");
        // roles and search paths change from use to use, which named statements would not survive
        properties.setProperty("prepareThreshold", "0");
        properties.setProperty("binaryTransfer", "false");
        // texts differ from caller to caller; what the driver keeps of 256 of them is megabytes for each connection
        properties.setProperty("preparedStatementCacheQueries", "16");
        // another statement would be sent before the settings are pinned
        properties.setProperty("assumeMinServerVersion", "15");
        Connection connection = new Driver().connect(url.jdbcUrl(), properties);
        if (connection == null) {
            throw new SQLException("the driver does not take the URL", "08001");
        }
        try {
            int unlimited = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, loginMillis(properties));
            PinnedSession.pin(connection);
            connection.setNetworkTimeout(Runnable::run, unlimited);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /// A proxy may let everybody in and then have no server: what the driver waits for ends with the login.
    private static int loginMillis(Properties properties) {
        return Math.toIntExact(Duration.ofSeconds(Long.parseLong(properties.getProperty("loginTimeout", "0")))
                .toMillis());
    }

    @Override
    public Connection getConnection(@Nullable String user, @Nullable String password) throws SQLException {
        return getConnection();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {
        // the driver's own log could hold values
    }

    @Override
    public void setLoginTimeout(int seconds) {
        // the URL's own is used
    }

    /// How long the pool waits, when it is closed, for a connection that is being made.
    @Override
    public int getLoginTimeout() {
        return 1;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
