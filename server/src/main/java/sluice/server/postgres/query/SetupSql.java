package sluice.server.postgres.query;

import java.util.List;

/// The SQL that prepares a database, to be read and run by a superuser: `./sluice setup | psql ...`.
///
/// May be run again: what exists stays as it is. Sets no password, so that none is printed.
public final class SetupSql {
    private SetupSql() {}

    /// What to prepare for.
    ///
    /// @param replicationUser role of `SLUICE_DB_REPL_URL`
    /// @param poolUser role of `SLUICE_DB_AUTHZ_URL`
    public record Plan(
            String replicationUser, String poolUser, List<String> allowedRoles, String publication, String slot) {
        public Plan {
            allowedRoles = List.copyOf(allowedRoles);
        }
    }

    public static String text(Plan plan) {
        StringBuilder sql = new StringBuilder("""
                -- Prepares a database for Sluice. Run it as a superuser in the database to stream from.
                -- It may be run again. Nothing else is ever installed.

                -- 1. The server's settings. wal_level needs a restart of PostgreSQL.
                DO $setup$ BEGIN
                  IF current_setting('wal_level') <> 'logical' THEN
                    RAISE WARNING 'wal_level is "%": run ALTER SYSTEM SET wal_level = ''logical'' and restart PostgreSQL',
                      current_setting('wal_level');
                  END IF;
                  IF current_setting('max_slot_wal_keep_size') = '-1' THEN
                    RAISE WARNING 'max_slot_wal_keep_size is unlimited: run ALTER SYSTEM SET max_slot_wal_keep_size = ''10GB''';
                  END IF;
                END $setup$;

                -- 2. Roles. Give the two that log in a password with psql's \\password.
                """);
        role(sql, plan.replicationUser(), "LOGIN REPLICATION");
        role(sql, plan.poolUser(), "LOGIN NOINHERIT");
        for (String role : plan.allowedRoles()) {
            role(sql, role, "NOLOGIN");
        }
        sql.append(
                "\n-- The pool role acts as an application role, one transaction at a time. Grant a role that bypasses"
                        + "\n-- row-level security yourself, if its tokens shall be served.\n");
        for (String role : plan.allowedRoles()) {
            grant(sql, role, plan.poolUser());
        }
        String publication = SqlText.identifier(plan.publication());
        sql.append("\n-- 3. The publication, and the tables in it.\n")
                .append(guarded(
                        "SELECT FROM pg_catalog.pg_publication WHERE pubname = " + SqlText.literal(plan.publication()),
                        "CREATE PUBLICATION " + publication))
                .append("-- ALTER PUBLICATION ")
                .append(publication)
                .append(" ADD TABLE public.documents;\n")
                .append("""

                        -- 4. A table needs a primary key, or another replica identity, before it is added. To have deletes
                        -- and leaves decided by a column outside the primary key, widen the identity:
                        -- CREATE UNIQUE INDEX documents_identity ON public.documents (owner_id, id);
                        -- ALTER TABLE public.documents ALTER owner_id SET NOT NULL;
                        -- ALTER TABLE public.documents REPLICA IDENTITY USING INDEX documents_identity;

                        """)
                .append("-- The server itself creates the replication slot ")
                .append(SqlText.identifier(plan.slot()))
                .append(". To remove it for good:\n-- SELECT pg_drop_replication_slot(")
                .append(SqlText.literal(plan.slot()))
                .append(");\n");
        return sql.toString();
    }

    private static void role(StringBuilder sql, String name, String attributes) {
        sql.append(guarded(
                "SELECT FROM pg_catalog.pg_roles WHERE rolname = " + SqlText.literal(name),
                "CREATE ROLE " + SqlText.identifier(name) + " " + attributes));
    }

    private static void grant(StringBuilder sql, String role, String pool) {
        sql.append(guarded(
                "SELECT FROM pg_catalog.pg_roles WHERE rolname = " + SqlText.literal(role)
                        + " AND (rolsuper OR rolbypassrls)",
                "GRANT " + SqlText.identifier(role) + " TO " + SqlText.identifier(pool)));
    }

    /// Runs the statement unless the query finds a row. A tag that no name can hold keeps names
    /// from ending the block.
    private static String guarded(String query, String statement) {
        String body =
                " BEGIN IF NOT EXISTS (" + query + ") THEN EXECUTE " + SqlText.literal(statement) + "; END IF; END ";
        String tag = "$setup$";
        for (int i = 0; body.contains(tag); i++) {
            tag = "$setup" + i + "$";
        }
        return "DO " + tag + body + tag + ";\n";
    }
}
