package sluice.server.postgres.query;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.session.BanTime;
import sluice.core.session.IdType;
import sluice.core.session.RevocationTables;
import sluice.core.value.PgType;
import sluice.server.postgres.query.Rows.Row;
import sluice.server.postgres.query.StartupValidation.Revocation;

/// Whether the tables that end sessions let it be seen in the log, and let a session be looked up.
final class RevocationJudgement {
    private final String publication;
    private final Revocation revocation;
    private final String poolRole;

    /// @param poolRole its name, not quoted
    RevocationJudgement(String publication, Revocation revocation, String poolRole) {
        this.publication = SqlText.identifier(publication);
        this.revocation = revocation;
        this.poolRole = SqlText.identifier(poolRole);
    }

    /// One question for the sessions table and, where there is one, one for the users table.
    static String questions(String publication, Revocation revocation) {
        RevocationTables tables = revocation.tables();
        String sessions = question(publication, tables.sessions(), RevocationTables.ID);
        RevocationTables.Table users = tables.users();
        return users == null ? sessions : sessions + ";\n" + question(publication, users, tables.banColumn());
    }

    private static String question(String publication, RevocationTables.Table table, String otherColumn) {
        return PublicationQuery.members(publication)
                + QUESTION.replace("$SCHEMA$", SqlText.literal(table.schema()))
                        .replace("$TABLE$", SqlText.literal(table.name()))
                        .replace("$OTHER$", SqlText.literal(otherColumn))
                        .replace("$HIDES$", SessionQuery.mayHide("c.oid"));
    }

    /// @param answers to {@link #questions}
    List<Finding> of(List<List<Row>> answers) {
        RevocationTables tables = revocation.tables();
        List<Finding> findings = new ArrayList<>(ofTable(tables.sessions(), "SESSIONS", answers.getFirst()));
        if (findings.isEmpty() && revocation.lookup() == Revocation.Lookup.ON) {
            findings.addAll(ofLookup(answers.getFirst().getFirst()));
        }
        RevocationTables.Table users = tables.users();
        if (users != null) {
            List<Finding> ofUsers = ofTable(users, "USERS", answers.get(1));
            findings.addAll(ofUsers);
            if (ofUsers.isEmpty()) {
                List<Finding> ofBans = ofBanColumn(users, answers.get(1).getFirst());
                findings.addAll(ofBans);
                if (ofBans.isEmpty() && revocation.lookup() == Revocation.Lookup.ON) {
                    findings.addAll(ofBanLookup(users, answers.get(1).getFirst()));
                }
            }
        }
        return findings;
    }

    private List<Finding> ofTable(RevocationTables.Table table, String which, List<Row> answer) {
        String setting = "SLUICE_REVOCATION_" + which + "_TABLE";
        if (answer.isEmpty()) {
            return List.of(Finding.refusal(
                    "revocation_table_missing",
                    setting,
                    "the table " + table.qualifiedName() + " does not exist",
                    "nobody whose session ends would be noticed",
                    "set " + setting + " to the table's name with its schema"));
        }
        Row row = answer.getFirst();
        Finding finding = ofFeed(table, row);
        if (finding == null) {
            finding = ofId(table, row);
        }
        return finding == null ? List.of() : List.of(finding);
    }

    private @Nullable Finding ofFeed(RevocationTables.Table table, Row row) {
        String name = SqlText.qualified(table.schema(), table.name());
        if (row.letter(0) != 'r' || row.flag(1)) {
            return refusal(
                    "revocation_table_kind",
                    table,
                    "is partitioned, a partition, or no table",
                    "rows can leave it without a word in the log",
                    "name an ordinary table in SLUICE_REVOCATION_SESSIONS_TABLE and SLUICE_REVOCATION_USERS_TABLE");
        }
        if (!row.flag(2)) {
            return refusal(
                    "revocation_not_published",
                    table,
                    "is not in the publication " + publication,
                    "nobody whose session ends would be noticed",
                    "ALTER PUBLICATION " + publication + " ADD TABLE " + name + ";");
        }
        if (!row.flag(3)) {
            return refusal(
                    "revocation_not_published",
                    table,
                    "is in a publication that leaves out inserts, updates, deletes or truncates",
                    "some sessions that end would not be noticed",
                    "ALTER PUBLICATION " + publication + " SET (publish = 'insert, update, delete, truncate');");
        }
        if (!row.flag(6)) {
            return refusal(
                    "revocation_identity",
                    table,
                    "has a replica identity without its column \"id\"",
                    "a deleted row would not say which it was",
                    "ALTER TABLE " + name + " REPLICA IDENTITY FULL;");
        }
        return null;
    }

    private @Nullable Finding ofId(RevocationTables.Table table, Row row) {
        String type = row.textOrNull(4);
        if (type == null) {
            return missingColumn(table, RevocationTables.ID);
        }
        if (IdType.of(new PgType.Base(row.oid(4), "id")) == null) {
            return refusal(
                    "revocation_id_type",
                    table,
                    "has ids of a type that tokens cannot be compared with",
                    "which session a token names could not be told",
                    "give \"id\" one of the types uuid, smallint, integer, bigint, text, varchar and char");
        }
        if (!row.flag(5)) {
            return refusal(
                    "revocation_id_type",
                    table,
                    "has ids of a nondeterministic collation",
                    "which session a token names could not be told",
                    "ALTER TABLE " + SqlText.qualified(table.schema(), table.name())
                            + " ALTER COLUMN \"id\" TYPE text COLLATE \"C\";");
        }
        return null;
    }

    private List<Finding> ofBanColumn(RevocationTables.Table users, Row row) {
        String column = revocation.tables().banColumn();
        if (row.textOrNull(7) == null) {
            return List.of(missingColumn(users, column));
        }
        return BanTime.isOne(row.oid(7))
                ? List.of()
                : List.of(refusal(
                        "revocation_ban_type",
                        users,
                        "has a column " + SqlText.identifier(column) + " that is not a timestamptz, timestamp or date",
                        "until when a user is banned could not be told",
                        "set SLUICE_REVOCATION_USERS_BAN_COLUMN to the column with the end of the ban"));
    }

    private Finding missingColumn(RevocationTables.Table table, String column) {
        String name = SqlText.qualified(table.schema(), table.name());
        return refusal(
                "revocation_column",
                table,
                "has no column " + SqlText.identifier(column) + ", or the publication leaves it out",
                "nobody whose session ends would be noticed",
                "ALTER PUBLICATION " + publication + " DROP TABLE " + name + "; ALTER PUBLICATION " + publication
                        + " ADD TABLE " + name + "; -- or name another column or table");
    }

    private List<Finding> ofLookup(Row row) {
        RevocationTables.Table table = revocation.tables().sessions();
        String name = SqlText.qualified(table.schema(), table.name());
        if (!row.flag(8)) {
            return List.of(refusal(
                    "session_lookup_grant",
                    table,
                    "has ids the pool role " + poolRole + " may not read",
                    "no session could be looked up",
                    "GRANT USAGE ON SCHEMA " + SqlText.identifier(table.schema()) + " TO " + poolRole
                            + "; GRANT SELECT (id) ON " + name + " TO " + poolRole + ";"));
        }
        return row.flag(9)
                ? List.of(Finding.warning(
                        "session_lookup_rls",
                        table.qualifiedName(),
                        "has row-level security, and no policy shows every row to the pool role",
                        "no session could be looked up",
                        "CREATE POLICY sluice_session_lookup ON " + name + " FOR SELECT TO " + poolRole
                                + " USING (true);"))
                : List.of();
    }

    private List<Finding> ofBanLookup(RevocationTables.Table users, Row row) {
        String name = SqlText.qualified(users.schema(), users.name());
        String impact = "a user who was banned before this server began to read the log is let in";
        if (!row.flag(8) || !row.flag(10)) {
            return List.of(Finding.warning(
                    "ban_lookup_grant",
                    users.qualifiedName(),
                    "has bans the pool role " + poolRole + " may not read",
                    impact,
                    "GRANT USAGE ON SCHEMA " + SqlText.identifier(users.schema()) + " TO " + poolRole
                            + "; GRANT SELECT (id, "
                            + SqlText.identifier(revocation.tables().banColumn()) + ") ON " + name + " TO " + poolRole
                            + ";"));
        }
        return row.flag(9)
                ? List.of(Finding.warning(
                        "ban_lookup_rls",
                        users.qualifiedName(),
                        "has row-level security, and no policy shows every row to the pool role",
                        impact,
                        "CREATE POLICY sluice_ban_lookup ON " + name + " FOR SELECT TO " + poolRole + " USING (true);"))
                : List.of();
    }

    private static Finding refusal(
            String code, RevocationTables.Table table, String reason, String impact, String remedy) {
        return Finding.refusal(code, table.qualifiedName(), reason, impact, remedy);
    }

    /// Kind, whether a partition; whether published, and with every action; the type of `id` under its domains when
    /// it is published; whether it is compared byte by byte; whether old rows name it; the type of the other column
    /// when it is published; whether the pool role reads `id`; whether row-level security may hide rows from it;
    /// whether it reads the other column.
    private static final String QUESTION = """
        , target AS (
          SELECT c.* FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname = $SCHEMA$ AND c.relname = $TABLE$
        ), published AS (
          SELECT a.attname, a.attnum, a.attcollation, base.oid AS typeoid
            FROM target c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                                                        AND NOT a.attisdropped
           CROSS JOIN LATERAL (
             WITH RECURSIVE under (oid, typtype, typbasetype) AS (
               SELECT t.oid, t.typtype, t.typbasetype FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid
               UNION ALL
               SELECT t.oid, t.typtype, t.typbasetype FROM under u JOIN pg_catalog.pg_type t
                   ON u.typtype = 'd' AND t.oid = u.typbasetype
             ) SELECT u.oid FROM under u WHERE u.typtype <> 'd') base
           WHERE NOT EXISTS (SELECT FROM pub JOIN pg_catalog.pg_publication_rel r ON r.prpubid = pub.oid
                              WHERE r.prrelid = c.oid AND r.prattrs IS NOT NULL
                                AND NOT (a.attnum = ANY (r.prattrs::int2[])))
        ), id AS (SELECT * FROM published WHERE attname = 'id')
        SELECT c.relkind, c.relispartition, EXISTS (SELECT FROM member m WHERE m.relid = c.oid),
               coalesce((SELECT pub.pubinsert AND pub.pubupdate AND pub.pubdelete AND pub.pubtruncate FROM pub),
                        false),
               (SELECT id.typeoid FROM id),
               coalesce((SELECT l.collisdeterministic FROM id JOIN pg_catalog.pg_collation l
                           ON l.oid = id.attcollation), true),
               c.relreplident = 'f' OR EXISTS (
                 SELECT FROM pg_catalog.pg_index i JOIN id ON id.attnum = ANY (i.indkey::int2[])
                  WHERE i.indrelid = c.oid AND i.indisvalid
                    AND CASE c.relreplident WHEN 'd' THEN i.indisprimary AND i.indimmediate
                                            WHEN 'i' THEN i.indisreplident ELSE false END),
               (SELECT p.typeoid FROM published p WHERE p.attname = $OTHER$),
               pg_catalog.has_schema_privilege(session_user, c.relnamespace, 'USAGE')
                 AND EXISTS (SELECT FROM id
                              WHERE pg_catalog.has_column_privilege(session_user, c.oid, id.attnum, 'SELECT')),
               $HIDES$,
               EXISTS (SELECT FROM published p
                        WHERE p.attname = $OTHER$
                          AND pg_catalog.has_column_privilege(session_user, c.oid, p.attnum, 'SELECT'))
          FROM target c
        """;
}
