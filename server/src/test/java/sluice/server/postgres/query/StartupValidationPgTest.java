package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.postgres.query.Questions.TIMEOUT;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.wal.SlotName;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.Finding.Severity;
import sluice.server.postgres.query.StartupValidation.Expectation;
import sluice.server.postgres.query.StartupValidation.Report;
import sluice.server.postgres.query.StartupValidation.SlotRecreation;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

class StartupValidationPgTest {
    private static final List<String> ROLES = List.of("anon", "authenticated");

    /// A database with nothing to complain of but the cluster's own settings.
    private static PostgresDatabase healthy(int major) {
        PostgresDatabase database =
                PostgresCluster.of(major).createDatabase("validation").withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, owner uuid)", "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }

    private static Expectation expectation(PostgresDatabase database) {
        return new Expectation(
                new SlotName(
                        "validation_" + Integer.toUnsignedString(database.name().hashCode())),
                "sluice",
                ROLES,
                "sluice_repl",
                null,
                SlotRecreation.FORBIDDEN,
                null);
    }

    private static Report report(PostgresDatabase database, Expectation expectation) {
        try (Pool pool = Questions.pool(database)) {
            return new StartupValidation(pool, expectation, TIMEOUT).run();
        }
    }

    private static Report report(PostgresDatabase database) {
        return report(database, expectation(database));
    }

    private static List<String> codes(List<Finding> findings) {
        return findings.stream()
                .map(finding -> finding.code() + " " + finding.subject())
                .toList();
    }

    private static void run(PostgresDatabase database, String remedy) {
        for (String statement : remedy.split(";", -1)) {
            String sql = statement.replaceAll("--.*", "").strip();
            if (!sql.isEmpty()) {
                database.execute(sql);
            }
        }
    }

    @Test
    void a_transaction_that_wrote_and_is_open_is_found_with_the_sql_that_ends_it() throws Exception {
        try (PostgresDatabase database = healthy(PostgresCluster.NEWEST);
                Pool pool = Questions.pool(database);
                Connection open = database.connect();
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("INSERT INTO notes VALUES (1)");

            OldestTransaction oldest = OldestTransaction.read(pool, TIMEOUT);

            // another test's may be older: the cluster is shared
            assertThat(oldest).isNotNull();
            assertThat(oldest.name()).matches("session \\d+");
            assertThat(oldest.remedy()).matches("SELECT pg_catalog\\.pg_terminate_backend\\(\\d+\\);");
            open.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_healthy_database_is_not_refused(int major) {
        try (PostgresDatabase database = healthy(major)) {
            Report report = report(database);
            assertThat(report.refusals()).isEmpty();
            assertThat(codes(report.warnings())).containsExactly("unbounded_wal_retention max_slot_wal_keep_size");
            StartupValidation.ServerIdentity server = Objects.requireNonNull(report.server());
            assertThat(server.systemIdentifier())
                    .isEqualTo(database.value("SELECT system_identifier FROM pg_control_system()"));
            assertThat(server.timeline()).isEqualTo(1);
            assertThat(server.database()).isEqualTo(database.name());
        }
    }

    @Test
    void a_database_in_another_encoding_is_refused() {
        try (PostgresDatabase database = healthy(18)) {
            String latin = database.name() + "_latin";
            database.execute("CREATE DATABASE " + latin + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
            PostgresUrl url =
                    PostgresUrl.parse(database.url("sluice_authz").replace("/" + database.name(), "/" + latin));
            try (Pool pool = Pool.open(url, new Pool.Sizing(1, 0, TIMEOUT), Pool.Reset.ROLLBACK)) {
                Report report = new StartupValidation(pool, expectation(database), TIMEOUT).run();
                assertThat(codes(report.refusals())).contains("server_encoding server_encoding");
            } finally {
                database.execute("DROP DATABASE " + latin + " WITH (FORCE)");
            }
        }
    }

    @Test
    void a_missing_publication_is_refused_until_its_remedy_was_run() {
        try (PostgresDatabase database = healthy(18)) {
            Expectation expectation = new Expectation(
                    new SlotName("validation"), "Pub \"One\"", ROLES, null, null, SlotRecreation.FORBIDDEN, null);
            Finding finding = report(database, expectation).refusals().getFirst();
            assertThat(finding.code()).isEqualTo("publication_missing");
            run(database, finding.remedy());
            assertThat(report(database, expectation).refusals()).isEmpty();
        }
    }

    @Test
    void a_row_filter_is_refused_until_its_remedy_was_run() {
        try (PostgresDatabase database = healthy(18)) {
            database.execute(
                    "CREATE TABLE \"Other \"\"t\"\"\" (id int PRIMARY KEY)",
                    "ALTER PUBLICATION sluice ADD TABLE \"Other \"\"t\"\"\" WHERE (id > 1)",
                    "ALTER PUBLICATION sluice SET TABLE notes WHERE (id > 1), \"Other \"\"t\"\"\" WHERE (id > 1)");
            Finding finding = report(database).refusals().getFirst();
            assertThat(finding.code()).isEqualTo("publication_row_filter");
            assertThat(finding.reason()).contains("public.notes", "public.\"Other \"\"t\"\"\"");
            run(database, finding.remedy());
            assertThat(report(database).refusals()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void an_identity_that_breaks_the_applications_writes_is_refused(int major) {
        try (PostgresDatabase database = healthy(major)) {
            database.execute(
                    "CREATE TABLE nothing (id int PRIMARY KEY)",
                    "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                    "CREATE TABLE lost (id int PRIMARY KEY, a int NOT NULL)",
                    "CREATE UNIQUE INDEX lost_a ON lost (a)",
                    "ALTER TABLE lost REPLICA IDENTITY USING INDEX lost_a",
                    "DROP INDEX lost_a",
                    "CREATE TABLE nopk (id int)",
                    "CREATE TABLE whole (id int)",
                    "ALTER TABLE whole REPLICA IDENTITY FULL",
                    "CREATE TABLE root (id int, k int) PARTITION BY LIST (k)",
                    "CREATE TABLE leaf PARTITION OF root FOR VALUES IN (1)",
                    "ALTER PUBLICATION sluice ADD TABLE nothing, lost, nopk, whole, root");
            for (String via : List.of("true", "false")) {
                database.execute("ALTER PUBLICATION sluice SET (publish_via_partition_root = " + via + ")");
                Report report = report(database);
                assertThat(codes(report.refusals()))
                        .containsExactly(
                                "replica_identity public.leaf",
                                "replica_identity public.lost",
                                "replica_identity public.nopk",
                                "replica_identity public.nothing");
                assertThat(codes(report.warnings()))
                        .contains(
                                "no_primary_key public.leaf",
                                "no_primary_key public.nopk",
                                "no_primary_key public.whole")
                        .doesNotContain("no_primary_key public.notes");
            }
            for (Finding finding : report(database).refusals()) {
                String[] remedies = finding.remedy().split("-- or: ", -1);
                run(database, remedies[remedies.length - 1]);
            }
            assertThat(report(database).refusals()).isEmpty();
            database.execute(
                    "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                    "ALTER PUBLICATION sluice SET (publish = 'insert, truncate')");
            assertThat(report(database).refusals()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 18})
    void roles_that_are_missing_or_cannot_be_assumed_are_told_apart(int major) {
        try (PostgresDatabase database = healthy(major)) {
            String stranger = "stranger's \"role\" " + major;
            database.execute("CREATE ROLE \"stranger's \"\"role\"\" " + major + "\"");
            List<String> made = new ArrayList<>(List.of("\"stranger's \"\"role\"\" " + major + "\"", "\"ghost\""));
            try {
                Expectation expectation = new Expectation(
                        new SlotName("validation"),
                        "sluice",
                        List.of("anon", "ghost", stranger, "service_role"),
                        "sluice_repl",
                        null,
                        SlotRecreation.FORBIDDEN,
                        null);
                Report report = report(database, expectation);
                assertThat(codes(report.refusals()))
                        .containsExactly("role_missing SLUICE_ALLOWED_ROLES", "role_not_assumable " + stranger);
                assertThat(codes(report.warnings())).contains("role_not_assumable service_role");
                report.refusals().forEach(finding -> run(database, finding.remedy()));
                assertThat(report(database, expectation).refusals()).isEmpty();
                if (major >= 16) {
                    database.execute("GRANT ghost TO sluice_authz WITH SET FALSE");
                    assertThat(codes(report(database, expectation).refusals()))
                            .containsExactly("role_not_assumable ghost");
                }
            } finally {
                made.forEach(role -> database.execute("DROP ROLE IF EXISTS " + role));
            }
        }
    }

    @Test
    void a_replication_role_without_the_attribute_is_a_warning() {
        try (PostgresDatabase database = healthy(18)) {
            Expectation expectation = new Expectation(
                    new SlotName("validation"), "sluice", ROLES, "anon", null, SlotRecreation.FORBIDDEN, null);
            assertThat(codes(report(database, expectation).warnings())).contains("replication_role_attribute anon");
        }
    }

    @Test
    void a_protocol_the_database_does_not_speak_is_refused() {
        try (PostgresDatabase database = healthy(15)) {
            Expectation expectation = new Expectation(
                    new SlotName("validation"), "sluice", ROLES, "sluice_repl", 4, SlotRecreation.FORBIDDEN, null);
            assertThat(codes(report(database, expectation).refusals()))
                    .containsExactly("protocol_version SLUICE_PROTO_VERSION");
        }
    }

    @Test
    void a_slot_that_belongs_to_something_else_is_refused() {
        try (PostgresDatabase database = healthy(18);
                PostgresDatabase other = PostgresCluster.of(18).createDatabase("validation_other")) {
            Expectation expectation = expectation(database);
            String slot = expectation.slot().text();
            database.rows("SELECT pg_create_logical_replication_slot(?, 'pgoutput')", slot);
            assertThat(report(database, expectation).refusals()).isEmpty();
            database.rows("SELECT pg_drop_replication_slot(?)", slot);
            other.rows("SELECT pg_create_logical_replication_slot(?, 'pgoutput')", slot);
            assertThat(codes(report(database, expectation).refusals()))
                    .containsExactly("foreign_slot SLUICE_SLOT_NAME");
            other.rows("SELECT pg_drop_replication_slot(?)", slot);
            database.rows("SELECT pg_create_physical_replication_slot(?)", slot);
            assertThat(codes(report(database, expectation).refusals()))
                    .containsExactly("foreign_slot SLUICE_SLOT_NAME");
            database.rows("SELECT pg_drop_replication_slot(?)", slot);
        }
    }

    /// Settings of the server, each really wrong.
    @Test
    void a_server_that_cannot_stream_is_refused_by_the_setting_to_change() {
        try (PostgresCluster cluster = PostgresCluster.start(
                18,
                Map.of(
                        "wal_level", "replica",
                        "max_wal_senders", "0",
                        "max_replication_slots", "0",
                        "max_slot_wal_keep_size", "64MB",
                        "idle_replication_slot_timeout", "1h"))) {
            try (PostgresDatabase database =
                    cluster.createDatabase("validation").withStandardRoles()) {
                database.execute("CREATE PUBLICATION sluice");
                Report report = report(database);
                assertThat(codes(report.refusals()))
                        .containsExactly(
                                "wal_level wal_level",
                                "no_wal_sender max_wal_senders",
                                "no_free_slot max_replication_slots");
                assertThat(codes(report.warnings())).containsExactly("idle_slot_timeout idle_replication_slot_timeout");
            }
        }
    }

    @Test
    void an_invalidated_slot_is_refused_unless_it_may_be_replaced() {
        try (PostgresCluster cluster = PostgresCluster.start(
                18, Map.of("max_slot_wal_keep_size", "1MB", "max_wal_size", "32MB", "min_wal_size", "32MB"))) {
            try (PostgresDatabase database =
                    cluster.createDatabase("validation").withStandardRoles()) {
                database.execute("CREATE PUBLICATION sluice", "CREATE TABLE filler (t text)");
                database.rows("SELECT pg_create_logical_replication_slot('sluice', 'pgoutput')");
                for (int i = 0; i < 4; i++) {
                    database.execute(
                            "INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 20000)",
                            "SELECT pg_switch_wal()",
                            "CHECKPOINT");
                }
                Expectation forbidden = new Expectation(
                        new SlotName("sluice"), "sluice", ROLES, null, null, SlotRecreation.FORBIDDEN, null);
                Expectation allowed = new Expectation(
                        new SlotName("sluice"), "sluice", ROLES, null, null, SlotRecreation.ALLOWED, null);
                assertThat(codes(report(database, allowed).refusals())).isEmpty();
                Finding finding = report(database, forbidden).refusals().getFirst();
                assertThat(finding.code()).isEqualTo("slot_invalidated");
                assertThat(finding.reason()).contains("wal_removed");
                run(database, finding.remedy());
                assertThat(report(database, forbidden).refusals()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void the_setup_sql_prepares_an_empty_database_and_may_be_run_again(int major) {
        try (PostgresCluster cluster = PostgresCluster.start(major, Map.of("max_slot_wal_keep_size", "1GB"))) {
            try (PostgresDatabase database = cluster.createDatabase("setup")) {
                List<String> roles = List.of("web's \"user\"", "back\\slash", "$setup$");
                String sql = SetupSql.text(new SetupSql.Plan("my repl", "my \"pool\"", roles, "Pub 'One'", "sluice"));
                database.execute(sql);
                database.execute(sql);
                try (Pool pool = Pool.open(
                        PostgresUrl.parse(database.url("my \"pool\"")),
                        new Pool.Sizing(1, 0, Duration.ofSeconds(20)),
                        Pool.Reset.ROLLBACK)) {
                    Report report = new StartupValidation(
                                    pool,
                                    new Expectation(
                                            new SlotName("sluice"),
                                            "Pub 'One'",
                                            roles,
                                            "my repl",
                                            null,
                                            SlotRecreation.FORBIDDEN,
                                            null),
                                    TIMEOUT)
                            .run();
                    assertThat(report.findings()).isEmpty();
                }
                List<@Nullable String> pool = database.rows(
                                "SELECT rolcanlogin, rolinherit, rolbypassrls, rolsuper FROM pg_roles WHERE rolname ="
                                        + " ?",
                                "my \"pool\"")
                        .getFirst();
                assertThat(pool).containsExactly("t", "f", "f", "f");
            }
        }
    }

    @Test
    void every_finding_names_a_remedy_and_prints_in_two_lines() {
        try (PostgresDatabase database = healthy(18)) {
            database.execute("DROP PUBLICATION sluice");
            for (Finding finding : report(database).findings()) {
                assertThat(finding.remedy()).isNotEmpty();
                assertThat(finding.text().lines()).hasSize(2);
                assertThat(finding.severity()).isIn(Severity.REFUSAL, Severity.WARNING);
            }
        }
    }
}
