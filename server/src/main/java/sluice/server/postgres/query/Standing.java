package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Stamp;
import sluice.server.postgres.query.Rows.Row;

/// What PostgreSQL looks up as it is committed by then, whatever the snapshot of the question: policies, functions,
/// privileges, roles and what names mean.
///
/// Rows are of the snapshot. Where both do not belong together an answer is of no moment at all, and may be a yes
/// that was never true. So it counts only if a later snapshot says the same here as the question's own. Versions are
/// compared, so that what went and came back is seen; roles have none, and of tables they tell other things too.
///
/// A reading of the catalog compares the same for its own tables alone ({@link CatalogSql#standing}): a commit waits
/// for it.
///
/// An instance remembers since when it is as it was last seen, so one look decides for every answer that came before
/// it. Safe for any thread.
final class Standing {
    /// One text, as an expression. Any role may read what it is made of.
    static final String SQL = "pg_catalog.concat_ws(' '"
            + digest("p.oid, p.xmin", "pg_catalog.pg_policy p", "true")
            // others hold no right but the owner's, and tables come and go; by value, since TRUNCATE writes them too
            + digest(
                    "c.oid, c.relkind, c.relnamespace, c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity,"
                            + " c.relacl",
                    "pg_catalog.pg_class c",
                    "c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'"
                            + " AND (c.relrowsecurity OR c.relacl IS NOT NULL OR c.oid IN (SELECT d.refobjid"
                            + " FROM pg_catalog.pg_depend d"
                            + " WHERE d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass"
                            + " AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass))")
            + digest("a.attrelid, a.attnum, a.xmin", "pg_catalog.pg_attribute a", "a.attacl IS NOT NULL")
            + digest("w.attrelid, w.attnum, w.xmin", RightsPoll.NAMED_BY_POLICIES, "true")
            + digest("v.oid, v.xmin", "pg_catalog.pg_rewrite v", "v.oid >= 16384")
            + digest("n.oid, n.xmin", "pg_catalog.pg_namespace n", "n.nspname !~ '^pg_(temp|toast)'")
            + digest("m.roleid, m.member, m.xmin", "pg_catalog.pg_auth_members m", "true")
            + digest("r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolinherit", "pg_catalog.pg_roles r", "true")
            + digest(
                    "f.oid, f.xmin",
                    "pg_catalog.pg_proc f",
                    "f.oid >= 16384 OR f.proacl IS NOT NULL OR " + RightsPoll.replacedBuiltIns("f"))
            + digest("o.oid, o.xmin", "pg_catalog.pg_operator o", "o.oid >= 16384")
            + digest("k.oid, k.xmin", "pg_catalog.pg_cast k", "k.oid >= 16384")
            + ")";

    /// {@link #SQL}, and the version of one table, whose privileges and flags may have come and gone: the columns
    /// that {@link Rights#of} reads.
    static String with(int table) {
        String of = " FROM pg_catalog.pg_class c WHERE c.oid = " + Integer.toUnsignedString(table) + ")";
        return SQL + ", (SELECT c.xmin" + of + ", (SELECT c.relfilenode" + of;
    }

    /// What rights are at one moment.
    ///
    /// @param version of the table, null when it is gone
    /// @param storage moves with TRUNCATE and the like, which make a version without moving a right
    record Rights(
            String all, @Nullable String version, @Nullable String storage) {
        static Rights of(Row row, int column) {
            return new Rights(row.text(column), row.textOrNull(column + 1), row.textOrNull(column + 2));
        }

        /// Whether these are what rights were at an earlier moment, and in between.
        boolean stoodSince(Rights earlier) {
            return all.equals(earlier.all)
                    && version != null
                    && (version.equals(earlier.version) || !Objects.equals(storage, earlier.storage));
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong looks = new AtomicLong();
    private String seen = "";
    private @Nullable Stamp seenSince;

    /// Whether nothing moved from the snapshot of an answer, which is here, until now.
    ///
    /// @param connection outside of a transaction
    /// @return false also when it is not known; it will be of an answer to a question put after this
    boolean stoodSince(Stamp answer, Connection connection) throws SQLException {
        long before = looks.get();
        lock.lock();
        try {
            // whoever had the turn before may have looked after this answer came, too
            if (looks.get() == before) {
                looks.incrementAndGet();
                look(connection);
            }
            Stamp since = seenSince;
            return since != null && !answer.isOlderThan(since);
        } finally {
            lock.unlock();
        }
    }

    private void look(Connection connection) throws SQLException {
        String was = seen;
        Stamp wasSince = seenSince;
        seen = "";
        seenSince = null;
        Row row = Rows.run(connection, "SELECT " + ReadTransaction.STAMP + ", " + SQL)
                .getFirst()
                .getFirst();
        Stamp now = ReadTransaction.stamp(row);
        seen = row.text(3);
        seenSince = seen.equals(was) ? wasSince : now;
    }

    private static String digest(String columns, String from, String where) {
        return RightsPoll.digest(columns, from, where);
    }
}
