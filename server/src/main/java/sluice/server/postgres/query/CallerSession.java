package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Stamp;
import sluice.core.session.Identity;

/// The start of a transaction in which PostgreSQL sees the caller: their role and claims, for this transaction only.
///
/// Functions run under the search path the database configured for the pool role, as they would for the application,
/// with `pg_catalog` in front so that nobody's object takes the place of a built-in one.
final class CallerSession {
    private CallerSession() {}

    private static final String DEFAULT_PATH = "SET LOCAL search_path TO DEFAULT; ";

    private static final String PATH = "pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',"
            + " nullif(pg_catalog.current_setting('search_path'), '')), true)";

    private static final String ENTER = DEFAULT_PATH + "SELECT " + ReadTransaction.STAMP + ", " + PATH + ","
            + " pg_catalog.set_config('request.jwt.claims', ?, true),"
            + " pg_catalog.set_config('sluice.image', ?, true); SET LOCAL ROLE ";

    /// The statements that take the snapshot, the claims and the role. Claims travel apart from the text, so
    /// that no statement that raises or is watched shows them.
    ///
    /// Their parameters are those of {@link #parameters}; the first of them that returns rows returns the stamp.
    static String sql(Identity caller, Duration timeout) {
        return ReadTransaction.begin(timeout) + become(caller);
    }

    /// The same within a transaction.
    static String become(Identity caller) {
        return ENTER + SqlText.identifier(caller.role());
    }

    /// The role and the path that names are looked up by, within a transaction, for no caller.
    static String asRole(String role) {
        return DEFAULT_PATH + "SELECT " + PATH + "; SET LOCAL ROLE " + SqlText.identifier(role);
    }

    static List<@Nullable String> parameters(Identity caller, String image) {
        return List.of(caller.claims(), image);
    }

    /// One round trip: snapshot, claims and role.
    ///
    /// @param image what `current_setting('sluice.image')` gives inside the transaction, or empty
    static Stamp enter(Connection connection, Identity caller, String image, Duration timeout) throws SQLException {
        return ReadTransaction.stamp(Rows.run(connection, sql(caller, timeout), parameters(caller, image))
                .getFirst()
                .getFirst());
    }

    /// Whether the failure is about the question. Failures of the connection or the server are not an answer.
    static boolean isAnswer(SQLException failure) {
        String state = QueryException.stateOf(failure);
        return QueryException.isTimeout(state)
                || QueryException.kindOf(state) == QueryException.Kind.DEFINITE
                || state.equals("25006")
                || state.startsWith("P0")
                || state.startsWith("54")
                || state.startsWith("21")
                || state.startsWith("XX");
    }
}
