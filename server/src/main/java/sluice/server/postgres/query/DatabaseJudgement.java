package sluice.server.postgres.query;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.query.Rows.Row;
import sluice.server.postgres.query.StartupValidation.Expectation;
import sluice.server.postgres.query.StartupValidation.SlotRecreation;

/// What the facts of a database mean for a server with the given settings. Pure.
final class DatabaseJudgement {
    private static final int OLDEST_MAJOR = 15;
    private static final int NEWEST_MAJOR = 18;

    private final Expectation expectation;
    private final Row server;
    private final int major;

    DatabaseJudgement(Expectation expectation, Row server) {
        this.expectation = expectation;
        this.server = server;
        this.major = server.number(1) / 10000;
    }

    List<Finding> ofServer() {
        List<Finding> findings = new ArrayList<>();
        if (server.flag(0)) {
            findings.add(Finding.refusal(
                    "standby",
                    "SLUICE_DB_AUTHZ_URL",
                    "the database is a standby",
                    "its snapshots do not list running transactions, so no answer could be joined with the stream",
                    "name the primary, or several hosts with target_session_attrs=read-write"));
            return findings;
        }
        if (major < OLDEST_MAJOR) {
            findings.add(Finding.refusal(
                    "server_version",
                    "server_version",
                    "the database is version " + major,
                    "its publications lack what is needed here",
                    "upgrade to version " + OLDEST_MAJOR + " to " + NEWEST_MAJOR));
        }
        if (!server.text(8).equals("UTF8")) {
            findings.add(Finding.refusal(
                    "server_encoding",
                    "server_encoding",
                    "the database is encoded in " + server.text(8),
                    "constants of its policies could be read as other texts than its rows hold",
                    "create the database with ENCODING 'UTF8' and move the data over"));
        }
        Integer protocol = expectation.protocolVersion();
        int highest = major >= 16 ? 4 : 3;
        if (protocol != null && protocol > highest) {
            findings.add(Finding.refusal(
                    "protocol_version",
                    "SLUICE_PROTO_VERSION",
                    "the database speaks versions up to " + highest,
                    "replication would not start",
                    "remove SLUICE_PROTO_VERSION, or set it to " + highest));
        }
        if (!server.text(2).equals("logical")) {
            findings.add(Finding.refusal(
                    "wal_level",
                    "wal_level",
                    "is \"" + server.text(2) + "\"",
                    "the log does not carry what logical decoding needs",
                    "ALTER SYSTEM SET wal_level = 'logical'; -- then restart PostgreSQL"));
        }
        if (server.number(3) < 1) {
            findings.add(Finding.refusal(
                    "no_wal_sender",
                    "max_wal_senders",
                    "is 0",
                    "no replication connection is taken",
                    "ALTER SYSTEM SET max_wal_senders = 10; -- then restart PostgreSQL"));
        }
        findings.addAll(ofRetention());
        return findings;
    }

    private List<Finding> ofRetention() {
        List<Finding> findings = new ArrayList<>();
        if (server.text(4).equals("-1")) {
            findings.add(Finding.warning(
                    "unbounded_wal_retention",
                    "max_slot_wal_keep_size",
                    "is -1",
                    "while this server is down the slot keeps all WAL, until the disk is full",
                    "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();"));
        }
        if (!server.text(5).matches("0[a-z]*")) {
            findings.add(Finding.warning(
                    "idle_slot_timeout",
                    "idle_replication_slot_timeout",
                    "is " + server.text(5),
                    "the slot is lost when this server is down for that long",
                    "ALTER SYSTEM SET idle_replication_slot_timeout = 0; SELECT pg_reload_conf();"));
        }
        return findings;
    }

    /// @param slot its row, or none when it does not exist yet
    List<Finding> ofSlot(List<Row> slot, Row counts) {
        String name = expectation.slot().text();
        String drop = "SELECT pg_drop_replication_slot(" + SqlText.literal(name) + ");";
        if (slot.isEmpty()) {
            return counts.number(0) < counts.number(1)
                    ? List.of()
                    : List.of(Finding.refusal(
                            "no_free_slot",
                            "max_replication_slots",
                            "all " + counts.number(1) + " replication slots are taken",
                            "the slot \"" + name + "\" cannot be created",
                            "ALTER SYSTEM SET max_replication_slots = " + (counts.number(1) + 10)
                                    + "; -- then restart PostgreSQL, or drop a slot nobody uses"));
        }
        Row found = slot.getFirst();
        if (!"logical".equals(found.text(0))
                || !"pgoutput".equals(found.textOrNull(1))
                || !server.text(6).equals(found.textOrNull(2))
                || found.flag(3)) {
            return List.of(Finding.refusal(
                    "foreign_slot",
                    "SLUICE_SLOT_NAME",
                    "the slot \"" + name + "\" is not a permanent pgoutput slot of the database \"" + server.text(6)
                            + "\"",
                    "it belongs to something else",
                    "set SLUICE_SLOT_NAME to another name, or run " + drop));
        }
        String lost = found.textOrNull(4);
        if (lost != null && expectation.recreation() == SlotRecreation.FORBIDDEN) {
            return List.of(Finding.refusal(
                    "slot_invalidated",
                    "SLUICE_SLOT_NAME",
                    "the slot \"" + name + "\" was invalidated (" + lost + ")",
                    "changes since then cannot be delivered, and clients must read their state again",
                    drop + " -- or set SLUICE_SLOT_RECREATE=true"));
        }
        return List.of();
    }

    /// @param publication its row with the tables that have a row filter, or none when it is missing
    List<Finding> ofPublication(List<Row> publication) {
        String name = SqlText.identifier(expectation.publication());
        if (publication.isEmpty()) {
            return List.of(Finding.refusal(
                    "publication_missing",
                    "SLUICE_PUBLICATION",
                    "the publication " + name + " does not exist",
                    "there is nothing to stream",
                    "CREATE PUBLICATION " + name + "; -- then ALTER PUBLICATION " + name + " ADD TABLE ...;"));
        }
        String filtered = publication.getFirst().textOrNull(1);
        if (filtered == null) {
            return List.of();
        }
        return List.of(Finding.refusal(
                "publication_row_filter",
                "SLUICE_PUBLICATION",
                "the publication " + name + " has a row filter on " + filtered,
                "updates that cross the filter look like inserts and deletes, and the application's own writes can"
                        + " fail",
                "ALTER PUBLICATION " + name + " DROP TABLE " + filtered + "; ALTER PUBLICATION " + name + " ADD TABLE "
                        + filtered + ";"));
    }

    List<Finding> ofTables(List<Row> tables) {
        List<Finding> findings = new ArrayList<>();
        for (Row row : tables) {
            String table = SqlText.qualified(row.text(0), row.text(1));
            Finding finding = ofTable(row, table);
            if (finding != null) {
                findings.add(finding);
            }
            if (!row.flag(4)) {
                findings.add(Finding.warning(
                        "no_primary_key",
                        row.text(0) + "." + row.text(1),
                        "has no primary key",
                        "clients cannot tell its rows apart",
                        "ALTER TABLE " + table + " ADD PRIMARY KEY (...);"));
            }
        }
        return findings;
    }

    private static @Nullable Finding ofTable(Row row, String table) {
        if (!row.flag(3)) {
            return null;
        }
        String full = "ALTER TABLE " + table + " REPLICA IDENTITY FULL;";
        String reason = switch (row.letter(2)) {
            case 'n' -> "has the replica identity NOTHING";
            case 'i' -> row.flag(6) ? "" : "has the replica identity of an index that was dropped";
            case 'd' -> row.flag(5) ? "" : "has the replica identity DEFAULT and no immediate primary key";
            default -> "";
        };
        if (reason.isEmpty()) {
            return null;
        }
        String remedy = row.letter(2) != 'd' && row.flag(5)
                ? "ALTER TABLE " + table + " REPLICA IDENTITY DEFAULT;"
                : "ALTER TABLE " + table + " ADD PRIMARY KEY (...); -- or: " + full;
        return Finding.refusal(
                "replica_identity",
                row.text(0) + "." + row.text(1),
                reason,
                "PostgreSQL refuses the application's own UPDATE and DELETE of this table",
                remedy);
    }

    List<Finding> ofRoles(List<Row> roles) {
        String pool = SqlText.identifier(server.text(7));
        List<Finding> findings = new ArrayList<>();
        for (Row row : roles) {
            String role = SqlText.identifier(row.text(0));
            if (row.textOrNull(1) == null) {
                findings.add(Finding.refusal(
                        "role_missing",
                        "SLUICE_ALLOWED_ROLES",
                        "the role " + role + " does not exist",
                        "a token that names it could not be served",
                        "CREATE ROLE " + role + " NOLOGIN; GRANT " + role + " TO " + pool
                                + "; -- or remove it from SLUICE_ALLOWED_ROLES"));
            } else if (!row.flag(3)) {
                String grant = "GRANT " + role + " TO " + pool + ";";
                findings.add(
                        row.flag(2)
                                ? Finding.warning(
                                        "role_not_assumable",
                                        row.text(0),
                                        "the pool role " + pool + " cannot assume it",
                                        "snapshots and folds for this role, which bypasses row-level security, fail",
                                        grant)
                                : Finding.refusal(
                                        "role_not_assumable",
                                        row.text(0),
                                        "the pool role " + pool + " cannot assume it",
                                        "its policies cannot be evaluated",
                                        grant));
            }
        }
        return findings;
    }

    /// @param role the replication role as the pool sees it, or none
    List<Finding> ofReplicationRole(List<Row> role) {
        if (role.isEmpty() || role.getFirst().flag(1)) {
            return List.of();
        }
        String name = SqlText.identifier(role.getFirst().text(0));
        return List.of(Finding.warning(
                "replication_role_attribute",
                role.getFirst().text(0),
                "the role of SLUICE_DB_REPL_URL has no REPLICATION attribute",
                "the replication connection is refused unless a proxy changes the role",
                "ALTER ROLE " + name + " REPLICATION;"));
    }
}
