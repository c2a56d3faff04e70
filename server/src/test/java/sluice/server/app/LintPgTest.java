package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.diagnostics.Outlook;
import sluice.server.config.Settings;
import sluice.server.config.SettingsReader;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// A look at real databases. Whether a remedy helps is PostgreSQL's to say: it is run, and the next look finds one
/// thing less.
class LintPgTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final List<String> ROLES = List.of("anon", "authenticated");
    private static final String CLAIMS = "{\"sub\":\"" + RunningSluice.ALICE + "\",\"role\":\"authenticated\"}";
    private static final String WEIRD = "\"My.Schema\".\"We.Ird \"\"q\"\"\"";

    private static PostgresDatabase database(int major) {
        return PostgresCluster.of(major).createDatabase("lint").withStandardRoles();
    }

    private static Settings settings(PostgresDatabase database, Map<String, String> more) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("SLUICE_DB_AUTHZ_URL", database.url("sluice_authz"));
        environment.put("SLUICE_DB_REPL_URL", "postgres://localhost/postgres?replication=database");
        environment.put("SLUICE_JWKS_URL", "http://localhost/jwks.json");
        environment.put("SLUICE_ALLOWED_ROLES", "anon,authenticated");
        environment.putAll(more);
        return new SettingsReader(environment, new SettingsReader.Place("test", Path.of("/tmp"))).read();
    }

    private static Diagnosis lint(PostgresDatabase database) throws StartException {
        return Lint.of(settings(database, Map.of()), null, List.of());
    }

    private static String named(Finding finding) {
        return finding.code()
                + (finding.relation() == null ? "" : " " + finding.relation())
                + (finding.policy() == null ? "" : " " + finding.policy());
    }

    private static List<String> named(Diagnosis diagnosis) {
        return diagnosis.findings().stream().map(LintPgTest::named).toList();
    }

    private static void createEverything(PostgresDatabase database) {
        database.execute(
                "CREATE SCHEMA \"My.Schema\"",
                "GRANT USAGE ON SCHEMA \"My.Schema\" TO authenticated",
                "CREATE TABLE members (id int PRIMARY KEY, team int)",
                // decided by another table
                "CREATE TABLE invoices (id int PRIMARY KEY, team int)",
                "CREATE INDEX ON invoices (team)",
                "ALTER TABLE invoices ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY by_member ON invoices FOR SELECT TO authenticated"
                        + " USING (team IN (SELECT m.team FROM members m))",
                // not wrapped, for everybody, not indexed; in names that need quoting
                "CREATE TABLE " + WEIRD + " (\"Id\" int PRIMARY KEY, \"Ow'n\"\"er\" uuid, note text)",
                "GRANT SELECT ON " + WEIRD + " TO authenticated",
                "ALTER TABLE " + WEIRD + " ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY \"po\"\"l'icy\" ON " + WEIRD + " USING (\"Ow'n\"\"er\" = auth.uid() AND note <>"
                        + " E'auth.uid() \\\\ '' (' AND (current_setting('request.jwt.claims', true)) IS NOT NULL"
                        + " OR \"Ow'n\"\"er\" = (SELECT auth.uid()))",
                "INSERT INTO " + WEIRD + " VALUES (1, '" + RunningSluice.ALICE + "', 'x')," + " (2, '"
                        + RunningSluice.BOB + "', 'x')",
                // a tree too deep to be read
                "CREATE TABLE deep (id int PRIMARY KEY, open bool)",
                "ALTER TABLE deep ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY nested ON deep FOR SELECT TO authenticated USING (" + "NOT (".repeat(260) + "open"
                        + ")".repeat(260) + ")",
                "CREATE TABLE nothing (id int PRIMARY KEY)",
                "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                "CREATE TABLE lost (a int NOT NULL, b int NOT NULL)",
                "CREATE UNIQUE INDEX lost_a ON lost (a)",
                "CREATE UNIQUE INDEX lost_b ON lost (b)",
                "ALTER TABLE lost REPLICA IDENTITY USING INDEX lost_a",
                "DROP INDEX lost_a",
                "CREATE TABLE keyless (a int)",
                "CREATE TABLE whole (id int PRIMARY KEY, owner uuid, body text)",
                "CREATE INDEX ON whole (owner)",
                "ALTER TABLE whole REPLICA IDENTITY FULL",
                "ALTER TABLE whole ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON whole FOR SELECT TO authenticated USING (owner = (SELECT auth.uid()))",
                "CREATE TABLE fine (id int PRIMARY KEY, owner uuid NOT NULL)",
                "CREATE INDEX ON fine (owner)",
                "ALTER TABLE fine ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON fine FOR SELECT TO authenticated USING (owner = (SELECT auth.uid()))",
                "CREATE PUBLICATION sluice FOR ALL TABLES");
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void everything_is_found_and_each_statement_removes_what_it_was_printed_for(int major) throws StartException {
        try (PostgresDatabase database = database(major)) {
            createEverything(database);
            Diagnosis before = lint(database);
            assertThat(named(before))
                    .containsExactlyInAnyOrder(
                            "tier_c_policy public.invoices by_member",
                            "policy_function_not_wrapped My.Schema.We.Ird \"q\" po\"l'icy",
                            "policy_applies_to_public My.Schema.We.Ird \"q\" po\"l'icy",
                            "unindexed_policy_column My.Schema.We.Ird \"q\" po\"l'icy",
                            "unindexed_policy_column My.Schema.We.Ird \"q\" po\"l'icy",
                            "policy_unparseable public.deep nested",
                            "replica_identity_broken public.keyless",
                            "replica_identity_broken public.lost",
                            "replica_identity_broken public.nothing",
                            "replica_identity_full_with_toast public.whole",
                            "no_primary_key public.keyless",
                            "no_primary_key public.lost",
                            "unbounded_wal_retention");
            List<List<String>> rows = visible(database);
            assertThat(rows).hasSize(1);
            TreeSet<String> advice = new TreeSet<>();
            try (Pool pool = Pool.open(
                    settings(database, Map.of()).database().pool(),
                    new Pool.Sizing(1, 0, TIMEOUT),
                    Pool.Reset.ROLLBACK)) {
                CatalogLoader loader = CatalogLoader.start(pool, "sluice", ROLES, TIMEOUT);
                for (Finding finding : before.findings()) {
                    if (finding.remedy().contains("...")) {
                        advice.add(finding.code());
                    } else if (!finding.code().equals("unbounded_wal_retention")) {
                        database.execute(
                                finding.remedy().replaceAll(" --.*", "").split("(?<=;) "));
                        CatalogImage after = loader.load(new CatalogScope.Everything(), TIMEOUT);
                        assertThat(Diagnosis.of(after, ROLES).findings()).doesNotContain(finding);
                    }
                }
            }
            assertThat(advice).containsExactly("no_primary_key", "policy_unparseable", "tier_c_policy");
            assertThat(visible(database)).isEqualTo(rows);
            assertThat(named(lint(database)))
                    .containsExactlyInAnyOrder(
                            "tier_c_policy public.invoices by_member",
                            "policy_unparseable public.deep nested",
                            "no_primary_key public.keyless",
                            "no_primary_key public.lost",
                            "unbounded_wal_retention");
        }
    }

    private static List<List<String>> visible(PostgresDatabase database) {
        List<List<String>> rows = new ArrayList<>();
        database.asRole("authenticated", CLAIMS)
                .rows("SELECT * FROM " + WEIRD + " ORDER BY 1")
                .forEach(row -> rows.add(row.stream().map(String::valueOf).toList()));
        return rows;
    }

    @Test
    void every_table_and_role_has_a_tier_and_a_reason() throws Exception {
        try (PostgresDatabase database = database(18)) {
            createEverything(database);
            Diagnosis diagnosis = lint(database);
            assertThat(outlook(diagnosis, "public.fine", "authenticated").tier())
                    .isEqualTo(Tier.B);
            assertThat(outlook(diagnosis, "public.invoices", "authenticated").tier())
                    .isEqualTo(Tier.C);
            assertThat(outlook(diagnosis, "public.invoices", "authenticated").reason())
                    .contains("by_member", "a sub-select");
            assertThat(outlook(diagnosis, "public.members", "anon").tier()).isEqualTo(Tier.A);
            Outlook refused = outlook(diagnosis, "public.fine", "anon");
            assertThat(refused.tier()).isNull();
            assertThat(refused.reason()).contains("no policy lets role \"anon\" read");
            assertThat(outlook(diagnosis, "My.Schema.We.Ird \"q\"", "anon").reason())
                    .contains("USAGE");
            assertThat(outlook(diagnosis, "public.nothing", "anon").reason()).contains("NOTHING");

            JsonNode json = new ObjectMapper().readTree(ReportJson.of(diagnosis));
            assertThat(json.fieldNames()).toIterable().containsExactly("tables", "findings");
            JsonNode table = json.get("tables").get(0);
            assertThat(table.fieldNames()).toIterable().containsExactly("table", "role", "tier", "reason", "policies");
            for (JsonNode finding : json.get("findings")) {
                List<String> members = new ArrayList<>(List.of("code", "severity", "relation", "policy", "reason"));
                members.addAll(List.of("impact", "remedy"));
                assertThat(finding.fieldNames())
                        .toIterable()
                        .isSubsetOf(members)
                        .contains("code", "remedy");
            }
            assertThat(json.get("findings").get(0).get("severity").asText()).isEqualTo("high");
        }
    }

    private static Outlook outlook(Diagnosis diagnosis, String table, String role) {
        return diagnosis.tables().stream()
                .filter(one -> one.table().equals(table) && one.role().equals(role))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_missing_publication_and_role_are_findings_of_their_own() throws StartException {
        try (PostgresDatabase database = database(18)) {
            Diagnosis without = Lint.of(settings(database, Map.of()), "Live \"1\"", List.of("anon", "no \"one"));
            assertThat(named(without)).contains("publication_missing", "role_missing");
            assertThat(without.tables()).isEmpty();
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY)", "CREATE PUBLICATION \"Live \"\"1\"\"\" FOR TABLE t");
            Diagnosis with = Lint.of(settings(database, Map.of()), "Live \"1\"", List.of("anon", "no \"one"));
            assertThat(named(with)).contains("role_missing").doesNotContain("publication_missing");
            assertThat(with.tables()).extracting(Outlook::role).containsExactly("anon");
        }
    }

    @Test
    void a_database_that_cannot_be_reached_is_told_with_a_code_and_without_its_password() {
        try (PostgresDatabase database = database(18)) {
            Settings settings = settings(
                    database, Map.of("SLUICE_DB_AUTHZ_URL", "postgres://sluice_authz:s3cr3t@127.0.0.1:1/nowhere"));
            assertThatThrownBy(() -> Lint.of(settings, null, List.of()))
                    .isInstanceOf(StartException.class)
                    .hasMessageStartingWith("catalog_unavailable: ")
                    .hasMessageNotContaining("s3cr3t");
        }
    }

    @Test
    void policies_that_nobody_is_read_by_are_left_alone() throws StartException {
        try (PostgresDatabase database = database(18)) {
            database.execute(
                    "CREATE TABLE t (id int PRIMARY KEY, owner uuid, open bool)",
                    "CREATE POLICY off ON t USING (owner = auth.uid())",
                    "CREATE TABLE u (id int PRIMARY KEY, owner uuid)",
                    "ALTER TABLE u ENABLE ROW LEVEL SECURITY",
                    "CREATE POLICY own ON u FOR SELECT TO authenticated USING (true)",
                    "CREATE POLICY writing ON u FOR INSERT WITH CHECK (owner = auth.uid())",
                    "CREATE POLICY others ON u FOR SELECT TO service_role USING (owner = auth.uid())",
                    // best for everybody
                    "CREATE POLICY only_mine ON u AS RESTRICTIVE FOR SELECT USING (id > 0)",
                    // the literal true decides whatever this asks
                    "CREATE POLICY slow ON u FOR SELECT TO authenticated USING (EXISTS (SELECT FROM t))",
                    "CREATE PUBLICATION sluice FOR TABLE t, u");
            assertThat(named(lint(database))).containsExactly("unbounded_wal_retention");
        }
    }
}
