package sluice.server.postgres.query;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import sluice.core.wal.TransactionSnapshot;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.Rows.Row;

/// Connections of the pool role, in lanes that cannot starve one another: callers' questions, catalog reloads, the
/// rights poll, snapshots.
///
/// Every use ends with a rollback and a look at what is left: a connection that is not as clean as a new one is
/// closed, so no role, claim, transaction or lock reaches the next user. Safe for any thread; made for virtual
/// ones. When a lane is full a caller waits within its timeout and is then told {@link
/// QueryException.Kind#TRANSIENT}.
public final class Pool implements AutoCloseable {
    /// What the network may take besides the statements' own timeout.
    private static final Duration NETWORK_MARGIN = Duration.ofSeconds(2);

    private static final Duration ACQUIRE_MIN = Duration.ofMillis(250);

    private final PinnedDataSource database;
    private final HikariDataSource callers;
    private final HikariDataSource catalog;
    private final HikariDataSource rights;
    private final HikariDataSource snapshots;
    private final Reset reset;
    private final EarlierVersions earlier;
    private volatile IntPredicate followed = timeline -> true;

    /// Who asks.
    public enum Lane {
        CALLERS,
        CATALOG,
        RIGHTS,
        /// Reads many rows, for as long as a snapshot may take.
        SNAPSHOTS
    }

    /// What happens to a returned connection besides the rollback.
    public enum Reset {
        ROLLBACK,
        /// `DISCARD ALL`, and all settings pinned again.
        DISCARD_ALL
    }

    /// @param callersMax connections for folds and probes, at least 1; the catalog and the rights have three on top
    /// @param callersMin how many of them stay open when idle
    /// @param snapshotsMax connections for snapshots, at least 1; none stays open when idle
    /// @param acquire how long a use may wait for a free connection
    /// @param memory whether a connection more keeps what the catalog replaces between two rights polls
    public record Sizing(int callersMax, int callersMin, int snapshotsMax, Duration acquire, Memory memory) {
        /// How catalogs are read once.
        public Sizing(int callersMax, int callersMin, int snapshotsMax, Duration acquire) {
            this(callersMax, callersMin, snapshotsMax, acquire, Memory.NONE);
        }

        /// With one connection for snapshots.
        public Sizing(int callersMax, int callersMin, Duration acquire) {
            this(callersMax, callersMin, 1, acquire);
        }
    }

    /// Whether it is known which version of a right replaced which.
    public enum Memory {
        NONE,
        KEPT;

        /// A snapshot is held from one poll to the next, so not for polls that are far apart.
        public static Memory between(Duration rightsPoll) {
            return rightsPoll.compareTo(EarlierVersions.HELD_MAX) <= 0 ? KEPT : NONE;
        }
    }

    interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /// Work that may send the end of its transaction along with its question, and save the round trip for it.
    interface WholeWork<T> {
        T run(Use use) throws SQLException;
    }

    /// One use of a connection, by one thread.
    static final class Use {
        private final Connection connection;
        private @Nullable Row leftWith;

        private Use(Connection connection) {
            this.connection = connection;
        }

        Connection connection() {
            return connection;
        }

        /// Runs statements and, after them and in the same round trip, what ends every use. The last thing a
        /// use does; when a statement raises, the use is not over and ends as any other.
        ///
        /// @param sql has no `?` but those of the parameters
        /// @return one list for each of the statements that returned rows
        List<List<Row>> last(String sql, List<@Nullable String> parameters) throws SQLException {
            return left(Rows.run(connection, sql + "; " + LEAVE, parameters));
        }

        /// The same without parameters: a `?` in the text is PostgreSQL's operator.
        List<List<Row>> last(String sql) throws SQLException {
            return left(Rows.run(connection, sql + "; " + LEAVE));
        }

        private List<List<Row>> left(List<List<Row>> answers) {
            leftWith = answers.getLast().getFirst();
            return answers.subList(0, answers.size() - 1);
        }

        /// After {@link #last}: what was committed once the statements had run.
        TransactionSnapshot snapshotLeftIn() {
            Row end = leftWith;
            if (end == null) {
                throw new IllegalStateException("the use has not come to its end");
            }
            return TransactionSnapshot.parse(end.text(6));
        }
    }

    /// Advisory locks of the session are the one thing a rollback leaves that others can feel. The timeline is that
    /// of the position written to: the control file lags behind it. A standby writes to none.
    private static final String LEAVE =
            "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all(), current_user = session_user,"
                    + " pg_catalog.current_setting('role'), pg_catalog.current_setting('search_path'),"
                    + " pg_catalog.current_setting('transaction_read_only'),"
                    + " coalesce(pg_catalog.current_setting('request.jwt.claims', true), ''),"
                    + " pg_catalog.pg_current_snapshot()::text, CASE WHEN pg_catalog.pg_is_in_recovery() THEN '0' ELSE"
                    + " pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END";

    private Pool(PostgresUrl url, Sizing sizing, Reset reset) {
        this.database = new PinnedDataSource(url);
        this.reset = reset;
        int callersMin = Math.min(sizing.callersMin(), sizing.callersMax());
        this.callers = lane("sluice-callers", sizing.callersMax(), callersMin, sizing.acquire());
        // one for the tables a commit waits for, one for the whole catalog
        this.catalog = lane("sluice-catalog", 2, 1, sizing.acquire());
        this.rights = lane("sluice-rights", 1, 1, sizing.acquire());
        this.snapshots = lane("sluice-snapshots", sizing.snapshotsMax(), 0, sizing.acquire());
        this.earlier = new EarlierVersions(
                database,
                switch (sizing.memory()) {
                    case KEPT -> EarlierVersions.Mode.REMEMBERS;
                    case NONE -> EarlierVersions.Mode.FORGETS;
                });
    }

    EarlierVersions earlier() {
        return earlier;
    }

    /// Opens no connection yet: an unreachable database shows at the first question.
    public static Pool open(PostgresUrl url, Sizing sizing, Reset reset) {
        return new Pool(url, sizing, reset);
    }

    private HikariDataSource lane(String name, int max, int min, Duration acquire) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setDataSource(database);
        config.setMaximumPoolSize(max);
        config.setMinimumIdle(min);
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(acquire.compareTo(ACQUIRE_MIN) < 0 ? ACQUIRE_MIN.toMillis() : acquire.toMillis());
        config.setExceptionOverride(new ErrorsThatAreAnswers());
        return new HikariDataSource(config);
    }

    /// Connects once, beside the lanes: a lane tries again for as long as a use may wait, and would tell late of a
    /// wrong password. What may pass is left to the lanes.
    ///
    /// @throws QueryException when the database will never be connected to with this URL
    void reach() {
        try {
            database.getConnection().close();
        } catch (SQLException e) {
            QueryException failure = QueryException.connecting(e);
            if (failure.kind() == QueryException.Kind.DEFINITE) {
                throw failure;
            }
        }
    }

    /// From now on an answer counts only if the server that gave it writes a timeline that is followed. After a
    /// failover the pool may lead to the new primary before the last commits of the old one are decided, or to the
    /// old one still: what either says is of another history then, whose transactions have the same numbers.
    ///
    /// @param followed whether commits of this timeline are being decided; asked on any thread
    public void follow(IntPredicate followed) {
        this.followed = followed;
    }

    /// Runs a read-only piece of work. The work begins its own transaction; the pool always ends it.
    ///
    /// @param question names the work in messages, e.g. `the catalog query`
    /// @param timeout bounds each answer of the server; the work sets `statement_timeout` itself
    /// @throws QueryException when no connection was free in time, the work failed, or the answer is not of the
    ///     history that is followed
    <T> T ask(Lane lane, String question, Duration timeout, Work<T> work) {
        return askWhole(lane, question, timeout, use -> work.run(use.connection()));
    }

    /// The same for work that may end its transaction itself, by {@link Use#last}.
    <T> T askWhole(Lane lane, String question, Duration timeout, WholeWork<T> work) {
        HikariDataSource source = source(lane);
        Connection connection;
        try {
            connection = source.getConnection();
        } catch (SQLException e) {
            throw QueryException.connecting(e);
        }
        Use use = new Use(connection);
        T answer;
        try {
            connection.setNetworkTimeout(
                    Runnable::run, Math.toIntExact(timeout.plus(NETWORK_MARGIN).toMillis()));
            answer = work.run(use);
        } catch (SQLException e) {
            giveBack(source, use);
            throw switch (lane) {
                case CALLERS, SNAPSHOTS -> QueryException.of(question, e);
                case CATALOG, RIGHTS -> QueryException.ofCatalog(question, e);
            };
        } catch (RuntimeException | Error e) {
            giveBack(source, use);
            throw e;
        }
        if (!followed.test(giveBack(source, use))) {
            throw QueryException.transientFailure(
                    question + " was answered by another server than the one whose log is read");
        }
        return answer;
    }

    /// @return the timeline of the server that answered; 0 when it is not known any more
    private int giveBack(HikariDataSource source, Use use) {
        Connection connection = use.connection();
        boolean clean = false;
        int timeline = 0;
        try {
            Row end = use.leftWith;
            if (end == null) {
                end = Rows.run(connection, LEAVE).getLast().getFirst();
            }
            timeline = Integer.parseUnsignedInt(end.text(7), 16);
            clean = isClean(end);
            if (clean && reset == Reset.DISCARD_ALL) {
                Rows.run(connection, "DISCARD ALL");
                PinnedSession.pin(connection);
            }
        } catch (SQLException | RuntimeException e) {
            // a connection that cannot be cleaned is not used again
            clean = false;
        }
        if (!clean) {
            source.evictConnection(connection);
        }
        try {
            connection.close();
        } catch (SQLException e) {
            source.evictConnection(connection);
        }
        return timeline;
    }

    private static boolean isClean(Row left) {
        return left.flag(1)
                && left.text(2).equals("none")
                && left.text(3).equals(PinnedSession.SEARCH_PATH)
                && left.text(4).equals("on")
                && left.text(5).isEmpty();
    }

    /// Closes every connection once its present use ends: another server answers now. Any thread; does not wait.
    public void renew() {
        earlier.forget();
        for (HikariDataSource lane : List.of(callers, catalog, rights, snapshots)) {
            HikariPoolMXBean pool = lane.getHikariPoolMXBean();
            if (pool != null) {
                pool.softEvictConnections();
            }
        }
    }

    private HikariDataSource source(Lane lane) {
        return switch (lane) {
            case CALLERS -> callers;
            case CATALOG -> catalog;
            case RIGHTS -> rights;
            case SNAPSHOTS -> snapshots;
        };
    }

    @Override
    public void close() {
        callers.close();
        catalog.close();
        rights.close();
        snapshots.close();
        earlier.close();
    }
}
