package sluice.server.postgres.query;

/// What PostgreSQL looks up as it is committed by then, whatever the snapshot of the question: policies, functions,
/// privileges, roles and what names mean.
///
/// Rows are of the snapshot. Where both do not belong together an answer is of no moment at all, and may be a yes that
/// was never true. So it counts only if a later snapshot says the same here as the question's own. Versions are
/// compared, so that what went and came back is seen; of roles there are none.
final class Standing {
    /// One text, as an expression. Any role may read what it is made of.
    static final String SQL = "pg_catalog.concat_ws(' '"
            + digest("p.oid, p.xmin", "pg_catalog.pg_policy p", "true")
            // others hold no right but the owner's, and tables come and go
            + digest(
                    "c.oid, c.xmin",
                    "pg_catalog.pg_class c",
                    "c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'"
                            + " AND (c.relrowsecurity OR c.relacl IS NOT NULL OR c.oid IN (SELECT d.refobjid"
                            + " FROM pg_catalog.pg_depend d"
                            + " WHERE d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass"
                            + " AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass))")
            + digest(
                    "a.attrelid, a.attnum, a.xmin",
                    "pg_catalog.pg_attribute a",
                    "a.attacl IS NOT NULL OR (a.attrelid, a.attnum) IN (SELECT d.refobjid, d.refobjsubid"
                            + " FROM pg_catalog.pg_depend d"
                            + " WHERE d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass"
                            + " AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass)")
            + digest("v.oid, v.xmin", "pg_catalog.pg_rewrite v", "v.oid >= 16384")
            + digest("n.oid, n.xmin", "pg_catalog.pg_namespace n", "n.nspname !~ '^pg_(temp|toast)'")
            + digest("m.roleid, m.member, m.xmin", "pg_catalog.pg_auth_members m", "true")
            + digest(
                    "r.oid, r.rolname, r.rolsuper, r.rolbypassrls, r.rolinherit",
                    "pg_catalog.pg_roles r",
                    "true")
            + digest(
                    "f.oid, f.xmin",
                    "pg_catalog.pg_proc f",
                    "f.oid >= 16384 OR f.proacl IS NOT NULL OR " + RightsPoll.replacedBuiltIns("f"))
            + digest("o.oid, o.xmin", "pg_catalog.pg_operator o", "o.oid >= 16384")
            + digest("k.oid, k.xmin", "pg_catalog.pg_cast k", "k.oid >= 16384")
            + ")";

    private Standing() {}

    private static String digest(String columns, String from, String where) {
        return RightsPoll.digest(columns, from, where);
    }
}
