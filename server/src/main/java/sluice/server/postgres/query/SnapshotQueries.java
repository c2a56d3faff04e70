package sluice.server.postgres.query;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;
import sluice.core.expression.FilterSql;
import sluice.core.pgoutput.Tuple;
import sluice.core.session.Identity;
import sluice.core.shape.Filter;
import sluice.core.shape.Projection;
import sluice.core.value.Oid;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;
import sluice.server.postgres.query.SnapshotException.Reason;
import sluice.server.postgres.query.Standing.Rights;

/// Reads the rows of a shape as its caller sees them: one transaction, one snapshot, by a cursor, and the rights of
/// that snapshot ({@link Standing}).
///
/// Rows go to whoever takes them while the transaction is open, so the taker must not wait for a client. Memory is
/// bounded by {@link #FETCH_BYTES} and one row, or twice as many rows as the last time where rows grow suddenly.
public final class SnapshotQueries {
    /// What the rows of one round trip should weigh.
    private static final int FETCH_BYTES = 1 << 20;

    private static final int FIRST_FETCH = 16;
    private static final int FETCH_MAX = 1_000;

    private final Pool pool;
    private final Supplier<@Nullable SlotServer> slotServer;
    private final String poolRole;
    private final Bounds bounds;

    /// @param rowBytesMax text of a row above which only its key is read
    /// @param timeout of the whole transaction, within one statement's length
    /// @param lockTimeout how long the table may be locked by others
    public record Bounds(long rowsMax, int rowBytesMax, Duration timeout, Duration lockTimeout) {}

    /// What to read.
    public record Question(
            Identity caller, CatalogImage catalog, Relation relation, Projection projection, Filter filter) {}

    /// Whether a row came with all its columns.
    public enum RowPart {
        WHOLE,
        /// The row is larger than an event may be: every column outside the key is NULL.
        KEY
    }

    /// Takes what is read, in order, on the thread that asked.
    public interface Taker {
        /// Called once, before any row.
        void begin(Stamp stamp);

        /// @param row columns in the projection's order
        void row(Tuple row, RowPart part);
    }

    /// How a reading ended.
    public enum Extent {
        COMPLETE,
        /// There are more rows than a snapshot may hold.
        TRUNCATED
    }

    /// @param slotServer where the log is read from now; null while it is not known
    /// @param poolRole named in the remedy when a role cannot be assumed
    public SnapshotQueries(Pool pool, Supplier<@Nullable SlotServer> slotServer, String poolRole, Bounds bounds) {
        this.pool = pool;
        this.slotServer = slotServer;
        this.poolRole = poolRole;
        this.bounds = bounds;
    }

    /// Reads, ends the transaction, and makes the log pass it.
    ///
    /// @throws SnapshotException when not every row was read; what was taken is no snapshot then
    public Extent read(Question question, Taker taker) {
        try {
            return pool.ask(
                    Lane.SNAPSHOTS, "the snapshot", bounds.timeout(), connection -> read(connection, question, taker));
        } catch (QueryException e) {
            throw failure(e);
        }
    }

    private Extent read(Connection connection, Question question, Taker taker) throws SQLException {
        long deadline = System.nanoTime() + bounds.timeout().toNanos();
        String rights = Standing.with(question.relation().oid());
        Entered entered = enter(connection, question.caller(), rights);
        taker.begin(entered.stamp());
        FilterSql filter = question.filter().sql(question.catalog());
        SnapshotSql.Limits limits = new SnapshotSql.Limits(bounds.rowsMax(), bounds.rowBytesMax());
        declare(
                connection,
                SnapshotSql.of(
                        question.relation(),
                        question.projection(),
                        filter,
                        question.caller().role(),
                        limits),
                filter.parameters());
        Extent extent = rows(connection, question.projection(), taker, deadline);
        Row now = Rows.run(connection, "ROLLBACK; SELECT " + rights).getLast().getFirst();
        if (!Rights.of(now, 0).stoodSince(entered.rights())) {
            throw new SnapshotException(
                    Reason.RIGHTS_MOVED, "rows were not read: rights moved each time while they were; ask again");
        }
        LogPush.push(connection, question.catalog().dictionary().serverMajor());
        return extent;
    }

    /// @param rights what they are in the snapshot
    private record Entered(Stamp stamp, Rights rights) {}

    /// One round trip: snapshot, server, claims and role.
    private Entered enter(Connection connection, Identity caller, String rights) throws SQLException {
        String sql = ReadTransaction.begin(bounds.timeout())
                + "SET LOCAL lock_timeout = " + Math.max(1, bounds.lockTimeout().toMillis())
                + "; SET LOCAL cursor_tuple_fraction = 1; SELECT " + ReadTransaction.STAMP
                + ", c.system_identifier::text, CASE WHEN pg_catalog.pg_is_in_recovery() THEN '0' ELSE"
                + " pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END,"
                + " pg_catalog.current_database(), " + rights + " FROM pg_catalog.pg_control_system() c; "
                + CallerSession.become(caller);
        Row row;
        try {
            row = Rows.run(connection, sql, CallerSession.parameters(caller, ""))
                    .getFirst()
                    .getFirst();
        } catch (SQLException e) {
            if (QueryException.stateOf(e).equals("42501")) {
                String role = SqlText.identifier(caller.role());
                throw new SnapshotException(
                        Reason.ROLE_NOT_ASSUMABLE,
                        "the pool role cannot assume " + role + ", for which rows are read; run GRANT " + role + " TO "
                                + SqlText.identifier(poolRole) + ";");
            }
            throw e;
        }
        Stamp stamp = ReadTransaction.stamp(row);
        SlotServer reached = new SlotServer(row.text(3), Integer.parseUnsignedInt(row.text(4), 16), row.text(5));
        if (!reached.equals(slotServer.get())) {
            throw new SnapshotException(
                    Reason.ANOTHER_SERVER,
                    "rows were not read: the database that answered is not, or not known to be, the one changes"
                            + " come from; ask again");
        }
        return new Entered(stamp, Rights.of(row, 6));
    }

    private static void declare(Connection connection, String query, List<String> parameters) throws SQLException {
        try (PreparedStatement declare =
                connection.prepareStatement("DECLARE sluice_rows NO SCROLL CURSOR FOR " + query)) {
            declare.setEscapeProcessing(false);
            for (int i = 0; i < parameters.size(); i++) {
                // without a type, so that the cast beside it reads the text as the type's input function does
                declare.setObject(i + 1, parameters.get(i), Types.OTHER);
            }
            declare.execute();
        }
    }

    private Extent rows(Connection connection, Projection projection, Taker taker, long deadline) throws SQLException {
        long taken = 0;
        int count = FIRST_FETCH;
        while (true) {
            long left = Math.ceilDiv(deadline - System.nanoTime(), 1_000_000);
            if (left <= 0) {
                throw QueryException.outOfTime("the snapshot", bounds.timeout());
            }
            Batch batch = fetch(connection, projection, count, left);
            for (int i = 0; i < batch.rows().size(); i++) {
                if (taken == bounds.rowsMax()) {
                    return Extent.TRUNCATED;
                }
                taker.row(batch.rows().get(i), batch.parts().get(i));
                taken++;
            }
            if (batch.rows().size() < count) {
                return Extent.COMPLETE;
            }
            int fitting = FETCH_BYTES / Math.max(1, batch.largest());
            count = Math.clamp(fitting, 1, Math.min(FETCH_MAX, count * 2));
        }
    }

    private record Batch(List<Tuple> rows, List<RowPart> parts, int largest) {}

    private static Batch fetch(Connection connection, Projection projection, int count, long millis)
            throws SQLException {
        List<Tuple> rows = new java.util.ArrayList<>(count);
        List<RowPart> parts = new java.util.ArrayList<>(count);
        int largest = 0;
        try (Statement statement = connection.createStatement()) {
            boolean answers = statement.execute(
                    "SET LOCAL statement_timeout = " + millis + "; FETCH " + count + " FROM sluice_rows");
            while (!answers && statement.getUpdateCount() != -1) {
                answers = statement.getMoreResults();
            }
            try (ResultSet result = statement.getResultSet()) {
                while (result.next()) {
                    Tuple row = tuple(result, projection);
                    largest = Math.max(largest, row.bytes().length);
                    rows.add(row);
                    parts.add("t".equals(result.getString(projection.size() + 1)) ? RowPart.KEY : RowPart.WHOLE);
                }
            }
        }
        return new Batch(rows, parts, largest);
    }

    private static Tuple tuple(ResultSet result, Projection projection) throws SQLException {
        int width = projection.size();
        byte[][] texts = new byte[width][];
        Tuple.Kind[] kinds = new Tuple.Kind[width];
        int[] offsets = new int[width];
        int[] lengths = new int[width];
        int length = 0;
        for (int i = 0; i < width; i++) {
            byte[] text = text(result, i + 1, projection.entry(i));
            kinds[i] = text == null ? Tuple.Kind.NULL : Tuple.Kind.TEXT;
            texts[i] = text == null ? new byte[0] : text;
            offsets[i] = length;
            lengths[i] = texts[i].length;
            length = Math.addExact(length, lengths[i]);
        }
        byte[] bytes = new byte[length];
        for (int i = 0; i < width; i++) {
            System.arraycopy(texts[i], 0, bytes, offsets[i], lengths[i]);
        }
        return new Tuple(bytes, kinds, offsets, lengths);
    }

    /// As the server printed it. The driver hands these bytes out as they are, but reads those of a bytea.
    private static byte @Nullable [] text(ResultSet result, int column, Projection.Entry entry) throws SQLException {
        if (entry.type().undomained().oid() != Oid.BYTEA) {
            return result.getBytes(column);
        }
        String text = result.getString(column);
        return text == null ? null : text.getBytes(StandardCharsets.US_ASCII);
    }

    private static SnapshotException failure(QueryException failure) {
        String state = failure.sqlState();
        if (state.equals("55P03")) {
            return new SnapshotException(
                    Reason.LOCKED, "rows could not be read: another session holds a lock on the table; ask again");
        }
        if (QueryException.isTimeout(state)) {
            return new SnapshotException(
                    Reason.TIMEOUT,
                    "rows were not read within SLUICE_SNAPSHOT_TIMEOUT; narrow the filter, or add an index it can use");
        }
        if (state.equals("42501")) {
            return new SnapshotException(
                    Reason.NOT_PERMITTED, "rows could not be read: a right the query needs is missing");
        }
        if (failure.kind() == QueryException.Kind.DEFINITE && !state.isEmpty()) {
            return new SnapshotException(
                    Reason.RAISED,
                    "rows could not be read: a policy or the filter raised an error for one of them (SQLSTATE " + state
                            + ")");
        }
        return new SnapshotException(
                Reason.UNAVAILABLE, "rows could not be read: " + failure.getMessage() + "; ask again");
    }
}
