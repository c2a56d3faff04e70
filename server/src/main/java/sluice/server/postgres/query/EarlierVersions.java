package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Succession;
import sluice.core.wal.Xid;
import sluice.server.postgres.query.Rows.Row;

/// Remembers which version of a right replaced which.
///
/// PostgreSQL keeps a row that was replaced as long as somebody may still see it, and the row says which transaction
/// replaced it. So a transaction is kept open from one look to the next: in its snapshot the rows of `pg_class`,
/// `pg_namespace` and `pg_policy` are those of then, and their `xmax` is the next version's `xmin`. There are two
/// connections for it, since the next transaction has to have its snapshot before the last one is asked: what was
/// replaced in between would be seen by neither.
///
/// The snapshot is held no longer than {@link #HELD_MAX}, so vacuum is not kept from anything; PostgreSQL itself ends
/// a transaction that a stopped process left. It takes no lock but those of reading the catalog. What cannot be
/// remembered is not known, and more is withheld then. Safe for any thread; one looks at a time.
final class EarlierVersions {
    /// Rights have to be polled at least this often for a snapshot to be held from one poll to the next.
    static final Duration HELD_MAX = Duration.ofSeconds(5);

    /// A commit may be waiting: what takes longer than this is not known.
    private static final Duration PATIENCE = Duration.ofMillis(1_500);

    /// Versions of one right; of older ones it is forgotten that they came before.
    private static final int RUN_MAX = 64;

    /// Rights that were written anew. Full: all are forgotten.
    private static final int RUNS_MAX = 50_000;

    private static final String BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
            + " SET LOCAL statement_timeout = 1500; SET LOCAL idle_in_transaction_session_timeout = 20000;"
            + " SELECT " + Server.COLUMNS + ", pg_catalog.pg_current_snapshot()::text";

    /// A row for each right that was written anew since the snapshot: its name, its version then, what replaced it,
    /// and all that is a right in it.
    private static final String REPLACED = """
        SELECT 'table/' || c.oid, c.xmin::text, c.xmax::text,
               (c.relkind, c.relispartition, c.relnamespace, c.relname, c.relowner, c.relrowsecurity,
                c.relforcerowsecurity, c.relacl)::text
          FROM pg_catalog.pg_class c WHERE c.xmax <> '0'::pg_catalog.xid AND c.relkind IN ('r', 'p')
        UNION ALL
        SELECT 'schema/' || n.nspname, n.xmin::text, n.xmax::text, (n.oid, n.nspowner, n.nspacl)::text
          FROM pg_catalog.pg_namespace n WHERE n.xmax <> '0'::pg_catalog.xid
        UNION ALL
        SELECT 'policy/' || p.oid, p.xmin::text, p.xmax::text,
               (p.polrelid, p.polname, p.polcmd, p.polpermissive, p.polroles, p.polqual::text)::text
          FROM pg_catalog.pg_policy p WHERE p.xmax <> '0'::pg_catalog.xid;
        """;

    private final PinnedDataSource source;
    private final Mode mode;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Run> runs = new HashMap<>();
    private @Nullable Connection next;
    private @Nullable Connection last;
    private boolean holding;
    private String heldServer = "";
    private volatile boolean outdated;
    private boolean closed;

    /// Whether anything is remembered.
    enum Mode {
        REMEMBERS,
        FORGETS
    }

    /// Versions, oldest first, each replaced by the next; all but the last with this value.
    private record Run(List<Xid> versions, String value) {}

    EarlierVersions(PinnedDataSource source, Mode mode) {
        this.source = source;
        this.mode = mode;
    }

    /// Looks at what was replaced since the last look, and remembers the present for the next one. Never throws:
    /// without an answer nothing is known.
    void look() {
        looked("", List.of(), new CatalogScope.Everything());
    }

    /// The same, and what is known of how the rights of these tables came to be.
    ///
    /// @param server that the tables were read on: what another one replaced says nothing
    /// @param scope of the reading: a commit waits for one of single tables, and not for a connection to be made
    Succession looked(String server, Collection<Relation> relations, CatalogScope scope) {
        if (mode == Mode.FORGETS || !locked()) {
            return Succession.UNKNOWN;
        }
        try {
            if (outdated) {
                outdated = false;
                drop();
            }
            if (closed || !connected(scope)) {
                return Succession.UNKNOWN;
            }
            lookOnce();
            return heldServer.equals(server) ? succession(relations) : Succession.UNKNOWN;
        } catch (SQLException | RuntimeException e) {
            drop();
            return Succession.UNKNOWN;
        } finally {
            lock.unlock();
        }
    }

    private boolean locked() {
        try {
            return lock.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean connected(CatalogScope scope) throws SQLException {
        if (next == null && scope instanceof CatalogScope.Everything) {
            next = connection();
            last = connection();
        }
        return next != null && last != null;
    }

    private Connection connection() throws SQLException {
        Connection connection = source.getConnection();
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(PATIENCE.toMillis()));
        return connection;
    }

    private void lookOnce() throws SQLException {
        Connection begins = Objects.requireNonNull(next);
        Connection ends = Objects.requireNonNull(last);
        String server = Server.of(Rows.run(begins, BEGIN).getLast().getFirst(), 0);
        if (holding) {
            for (Row row : Rows.run(ends, REPLACED + "ROLLBACK").getFirst()) {
                replaced(row.text(0), xid(row.text(1)), xid(row.text(2)), row.text(3));
            }
        }
        next = ends;
        last = begins;
        holding = true;
        if (!server.equals(heldServer)) {
            runs.clear();
        }
        heldServer = server;
    }

    private static Xid xid(String text) {
        return new Xid(Integer.parseUnsignedInt(text));
    }

    private void replaced(String right, Xid version, Xid by, String value) {
        Run known = runs.get(right);
        int at = known == null ? -1 : known.versions().indexOf(version);
        List<Xid> versions = new ArrayList<>();
        if (known != null && at > 0 && known.value().equals(value)) {
            versions.addAll(known.versions().subList(Math.max(0, at - RUN_MAX), at));
        }
        versions.add(version);
        versions.add(by);
        if (known == null && runs.size() == RUNS_MAX) {
            runs.clear();
        }
        runs.put(right, new Run(versions, value));
    }

    private Succession succession(Collection<Relation> relations) {
        Map<Integer, Map<String, List<Xid>>> known = new HashMap<>();
        for (Relation relation : relations) {
            Map<String, List<Xid>> ofTable = new LinkedHashMap<>();
            for (String right : relation.rightVersions().keySet()) {
                Run run = runs.get(name(relation, right));
                if (run != null) {
                    ofTable.put(right, List.copyOf(run.versions()));
                }
            }
            if (!ofTable.isEmpty()) {
                known.put(relation.oid(), ofTable);
            }
        }
        return known.isEmpty() ? Succession.UNKNOWN : new Succession(known);
    }

    /// What a right of {@link Relation#rightVersions} is called here.
    private static String name(Relation relation, String right) {
        if (right.equals("table")) {
            return "table/" + Integer.toUnsignedString(relation.oid());
        }
        if (right.equals("schema")) {
            return "schema/" + relation.schema();
        }
        return right.startsWith("policy") ? "policy/" + right.substring("policy".length()) : right;
    }

    /// The connections are not of use any more: what they would have told is not known.
    private void drop() {
        close(next);
        close(last);
        next = null;
        last = null;
        holding = false;
        heldServer = "";
        runs.clear();
    }

    private static void close(@Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException e) {
            // it is broken, and PostgreSQL ends it
            return;
        }
    }

    /// Another server answers from now on. Does not wait.
    void forget() {
        outdated = true;
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            drop();
        } finally {
            lock.unlock();
        }
    }

    /// Which run of a server a transaction is on: what it says of versions holds for no other.
    static final class Server {
        /// The columns {@link #of} reads.
        static final String COLUMNS = "pg_catalog.pg_postmaster_start_time()::text, pg_catalog.pg_is_in_recovery()";

        private Server() {}

        static String of(Row row, int column) {
            return row.text(column) + (row.flag(column + 1) ? " standby" : "");
        }
    }
}
