package sluice.server.postgres.query;

import java.time.Duration;
import java.util.List;
import sluice.core.catalog.Stamp;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// Asks whether anything a decision reads has moved: one query over versions and values, no text.
///
/// Two answers that are equal mean that policies, flags, owners, grants, memberships, role attributes,
/// functions, operators, casts, labels, publications, inheritance trees and the names that policies are printed
/// with are as they were. Different answers say only that a reload is due.
public final class RightsPoll {
    /// Columns by which policies read tables, their own and others; `w` is the column.
    static final String NAMED_BY_POLICIES = "pg_catalog.pg_depend d JOIN pg_catalog.pg_attribute w"
            + " ON w.attrelid = d.refobjid AND w.attnum = d.refobjsubid"
            + " AND d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass"
            + " AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjsubid > 0";

    private final Pool pool;
    private final String query;
    private final Duration timeout;

    public RightsPoll(Pool pool, String publication, Duration timeout) {
        this.pool = pool;
        this.timeout = timeout;
        this.query = ReadTransaction.begin(timeout) + query(publication);
    }

    /// @throws QueryException when the database does not answer in time or is a standby
    public Stamped<String> fingerprint() {
        Stamped<String> fingerprint = pool.ask(Lane.RIGHTS, "the rights poll", timeout, connection -> {
            List<List<Row>> answers = Rows.run(connection, query);
            Row row = answers.getLast().getFirst();
            Stamp stamp = ReadTransaction.stamp(row);
            return new Stamped<>(stamp, row.text(3));
        });
        pool.earlier().look();
        return fingerprint;
    }

    private static String query(String publication) {
        return "SELECT " + ReadTransaction.STAMP + ", " + digests(publication);
    }

    /// The fingerprint as one SQL expression.
    static String digests(String publication) {
        return "pg_catalog.concat_ws(' '"
                + digest("p.oid, p.xmin", "pg_catalog.pg_policy p", "true")
                // by value: statistics and maintenance rewrite rows of pg_class without changing a right
                + digest(
                        "c.oid, c.relkind, c.relnamespace, c.relname, c.relowner, c.relrowsecurity,"
                                + " c.relforcerowsecurity, c.relacl, c.relreplident, c.relpersistence,"
                                + " CASE WHEN c.relkind = 'r' THEN c.relfilenode END",
                        "pg_catalog.pg_class c",
                        // a session's temporary tables come and go without touching a right
                        "c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND c.relpersistence <> 't'")
                + digest("a.attrelid, a.attnum, a.attacl", "pg_catalog.pg_attribute a", "a.attacl IS NOT NULL")
                // what the texts of policies name, besides what is below
                + digest("w.attrelid, w.attnum, w.attname", NAMED_BY_POLICIES, "true")
                + digest("l.oid, l.xmin", "pg_catalog.pg_collation l", "l.oid >= 16384")
                + digest(
                        "d.oid, d.xmin",
                        "pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute g"
                                + " ON g.attrelid = d.adrelid AND g.attnum = d.adnum",
                        "g.attgenerated <> ''")
                + digest("n.oid, n.xmin", "pg_catalog.pg_namespace n", "n.nspname !~ '^pg_(temp|toast)'")
                + digest("m.roleid, m.member, m.xmin", "pg_catalog.pg_auth_members m", "true")
                + digest(
                        "r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolinherit, r.rolreplication",
                        "pg_catalog.pg_roles r",
                        "true")
                // one of the server's that was written after the others is one that somebody replaced
                + digest(
                        "f.oid, f.xmin",
                        "pg_catalog.pg_proc f",
                        "f.oid >= 16384 OR f.proacl IS NOT NULL OR " + replacedBuiltIns("f"))
                + digest("o.oid, o.xmin", "pg_catalog.pg_operator o", "o.oid >= 16384")
                + digest("k.oid, k.xmin", "pg_catalog.pg_cast k", "k.oid >= 16384")
                + digest("e.oid, e.xmin", "pg_catalog.pg_enum e", "true")
                // without those of tables, which come and go with them
                + digest(
                        "t.oid, t.xmin",
                        "pg_catalog.pg_type t",
                        "t.oid >= 16384 AND t.typtype <> 'c' AND t.typcategory <> 'A'")
                + digest("x.indexrelid, x.indisvalid, x.indisreplident", "pg_catalog.pg_index x", "x.indisreplident")
                + digest("i.inhrelid, i.inhparent, i.xmin", "pg_catalog.pg_inherits i", "true")
                + digest("b.oid, b.xmin", "pg_catalog.pg_publication b", "b.pubname = " + SqlText.literal(publication))
                + digest("s.oid, s.xmin", "pg_catalog.pg_publication_rel s", "true")
                + digest("u.oid, u.xmin", "pg_catalog.pg_publication_namespace u", "true")
                + ")";
    }

    /// Rows of `pg_proc` that a cluster did not begin with; initdb itself replaces some.
    static String replacedBuiltIns(String alias) {
        return alias + ".xmin <> '1'::pg_catalog.xid";
    }

    /// Count and sum of the hashes of all rows, whatever their order.
    static String digest(String columns, String from, String where) {
        return ", (SELECT pg_catalog.count(*) || ':' || coalesce(pg_catalog.sum(pg_catalog.hashtextextended("
                + "pg_catalog.concat_ws(',', " + columns + "), 0)), 0) FROM " + from + " WHERE " + where + ")";
    }
}
