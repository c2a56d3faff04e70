package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.session.RevocationTables;
import sluice.core.wal.SlotName;
import sluice.server.postgres.query.Pool.Lane;
import sluice.server.postgres.query.Rows.Row;

/// Looks at the database before anything is served, and says everything that is wrong at once.
///
/// A refusal is a state in which rows would be lost, shown to the wrong user, or the application's own writes fail. A
/// warning is one that will become that. The queries gather facts; {@link DatabaseJudgement} judges them.
public final class StartupValidation {
    private final Pool pool;
    private final Expectation expectation;
    private final Duration timeout;

    /// What the settings say.
    ///
    /// @param replicationUser null when its URL names none
    /// @param protocolVersion null for the highest the database has
    /// @param recreation whether an invalidated slot may be replaced
    /// @param revocation what ends sessions, null when nothing does
    public record Expectation(
            SlotName slot,
            String publication,
            List<String> allowedRoles,
            @Nullable String replicationUser,
            @Nullable Integer protocolVersion,
            SlotRecreation recreation,
            @Nullable Revocation revocation) {
        public Expectation {
            allowedRoles = List.copyOf(allowedRoles);
        }
    }

    /// @param lookup whether the pool role has to find a session's row
    public record Revocation(RevocationTables tables, Lookup lookup) {
        /// Whether sessions are looked up.
        public enum Lookup {
            ON,
            OFF
        }
    }

    /// What becomes of an invalidated slot.
    public enum SlotRecreation {
        FORBIDDEN,
        ALLOWED
    }

    /// Which server the pool reached, to be compared with the replication connection's IDENTIFY_SYSTEM.
    ///
    /// @param timeline of the write position; the control file lags behind it
    public record ServerIdentity(String systemIdentifier, int timeline, String database) {}

    /// @param findings refusals first
    public record Report(@Nullable ServerIdentity server, List<Finding> findings) {
        public Report {
            findings = List.copyOf(findings);
        }

        public List<Finding> refusals() {
            return findings.stream()
                    .filter(finding -> finding.severity() == Finding.Severity.REFUSAL)
                    .toList();
        }

        public List<Finding> warnings() {
            return findings.stream()
                    .filter(finding -> finding.severity() == Finding.Severity.WARNING)
                    .toList();
        }
    }

    public StartupValidation(Pool pool, Expectation expectation, Duration timeout) {
        this.pool = pool;
        this.expectation = expectation;
        this.timeout = timeout;
    }

    /// @throws QueryException when the database does not answer
    public Report run() {
        pool.reach();
        return pool.ask(Lane.CATALOG, "the start-up validation", timeout, this::run);
    }

    private Report run(Connection connection) throws SQLException {
        Row server = Rows.run(connection, ReadTransaction.begin(timeout) + SERVER)
                .getFirst()
                .getFirst();
        DatabaseJudgement judgement = new DatabaseJudgement(expectation, server);
        List<Finding> findings = new ArrayList<>(judgement.ofServer());
        if (server.flag(0)) {
            // nothing else is worth knowing of a standby, and some of it cannot be asked
            return new Report(null, findings);
        }
        int major = server.number(1) / 10000;
        List<List<Row>> answers = Rows.run(connection, questions(major));
        findings.addAll(judgement.ofSlot(answers.get(0), answers.get(1).getFirst()));
        findings.addAll(judgement.ofPublication(answers.get(2)));
        findings.addAll(judgement.ofTables(answers.get(3)));
        findings.addAll(judgement.ofRoles(answers.get(4)));
        findings.addAll(judgement.ofReplicationRole(answers.get(5)));
        Revocation revocation = expectation.revocation();
        if (revocation != null) {
            findings.addAll(new RevocationJudgement(expectation.publication(), revocation, server.text(7))
                    .of(Rows.run(connection, RevocationJudgement.questions(expectation.publication(), revocation))));
        }
        findings.sort((left, right) -> left.severity().compareTo(right.severity()));
        Row identity = answers.get(6).getFirst();
        return new Report(
                new ServerIdentity(identity.text(0), Integer.parseInt(identity.text(1), 16), identity.text(2)),
                findings);
    }

    private static final String SERVER = """
        SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('server_version_num'),
               pg_catalog.current_setting('wal_level'), pg_catalog.current_setting('max_wal_senders'),
               pg_catalog.current_setting('max_slot_wal_keep_size'),
               coalesce(pg_catalog.current_setting('idle_replication_slot_timeout', true), '0'),
               pg_catalog.current_database(), session_user,
               pg_catalog.current_setting('server_encoding')
        """;

    private String questions(int major) {
        StringBuilder names = new StringBuilder();
        for (String role : expectation.allowedRoles()) {
            names.append(names.isEmpty() ? "" : ", ").append(SqlText.literal(role));
        }
        String user = expectation.replicationUser() == null ? "" : expectation.replicationUser();
        // membership alone does not let a role be assumed from 16 on
        String privilege = major >= 16 ? "'SET'" : "'MEMBER'";
        String lost = major >= 17
                ? "s.invalidation_reason"
                : major == 16 ? "CASE WHEN s.conflicting THEN 'conflict' END" : "NULL::text";
        return "SELECT s.slot_type, s.plugin, s.database, s.temporary, coalesce(" + lost
                + ", CASE WHEN s.wal_status = 'lost' THEN 'wal_removed' END) FROM pg_catalog.pg_replication_slots s"
                + " WHERE s.slot_name = " + SqlText.literal(expectation.slot().text()) + ";\n"
                + "SELECT pg_catalog.count(*), pg_catalog.current_setting('max_replication_slots')"
                + " FROM pg_catalog.pg_replication_slots;\n"
                + PublicationQuery.members(expectation.publication())
                + "SELECT pub.pubname, (SELECT pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, c.relname),"
                + " ', ' ORDER BY n.nspname, c.relname) FROM pg_catalog.pg_publication_rel r"
                + " JOIN pg_catalog.pg_class c ON c.oid = r.prrelid JOIN pg_catalog.pg_namespace n ON n.oid ="
                + " c.relnamespace WHERE r.prpubid = pub.oid AND r.prqual IS NOT NULL) FROM pub;\n"
                + PublicationQuery.members(expectation.publication())
                + TABLES
                + "SELECT a.name, r.oid, r.rolsuper OR r.rolbypassrls,"
                + " r.oid IS NOT NULL AND pg_catalog.pg_has_role(session_user, r.oid, " + privilege + ")"
                + " FROM pg_catalog.unnest(ARRAY[" + names + "]::name[]) WITH ORDINALITY a (name, position)"
                + " LEFT JOIN pg_catalog.pg_roles r ON r.rolname = a.name ORDER BY a.position;\n"
                + "SELECT r.rolname, r.rolreplication OR r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = "
                + SqlText.literal(user) + ";\n"
                + "SELECT c.system_identifier, pg_catalog.substr(pg_catalog.pg_walfile_name("
                + "pg_catalog.pg_current_wal_insert_lsn()), 1, 8), pg_catalog.current_database()"
                + " FROM pg_catalog.pg_control_system() c";
    }

    /// Every table whose rows reach the log: of a partitioned table its leaves, which carry the identity.
    private static final String TABLES = """
        , tree (relid) AS (
          SELECT m.relid FROM member m
          UNION
          SELECT i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid
            JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid WHERE c.relispartition
        )
        SELECT n.nspname, c.relname, c.relreplident, pub.pubupdate OR pub.pubdelete,
               EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary
                         AND i.indisvalid),
               EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary
                         AND i.indisvalid AND i.indimmediate),
               EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisreplident
                         AND i.indisvalid AND i.indisunique AND i.indimmediate)
          FROM pub, tree t JOIN pg_catalog.pg_class c ON c.oid = t.relid
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'r'
         ORDER BY n.nspname, c.relname;
        """;
}
