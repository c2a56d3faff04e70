package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.authorization.Meaning;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.testkit.PostgresCluster;

/// Which changes of policies and functions make another rule for a caller, on catalogs as PostgreSQL stores them.
class MeaningPgTest {
    private static final String ROLE = "authenticated";
    private static final String CLAIMS = "{\"sub\":\"00000000-0000-0000-0000-00000000000a\",\"team\":\"a\"}";

    private static PolicyTable table;

    @BeforeAll
    static void open() {
        table = PolicyTable.create(PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("meaning"));
        table.database()
                .execute(
                        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
                        "ALTER TABLE t ADD COLUMN mo mood, ADD COLUMN rg int4range, ADD COLUMN js jsonb",
                        "CREATE FUNCTION low(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 10'",
                        "CREATE FUNCTION mine() RETURNS text LANGUAGE sql STABLE AS 'SELECT auth.jwt() ->> ''team'''",
                        "CREATE FUNCTION asked(int) RETURNS bool LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 < 10;"
                                + " END'",
                        "CREATE POLICY one ON t FOR SELECT TO authenticated USING (false)");
    }

    @AfterAll
    static void close() {
        table.close();
    }

    @AfterEach
    void one_policy_again() {
        table.database()
                .execute(
                        "DROP POLICY IF EXISTS two ON t",
                        "DROP POLICY IF EXISTS zero ON t",
                        "CREATE OR REPLACE FUNCTION low(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 10'",
                        "CREATE OR REPLACE FUNCTION asked(int) RETURNS bool LANGUAGE plpgsql STABLE AS"
                                + " 'BEGIN RETURN $1 < 10; END'");
    }

    private static Meaning meaning(String claims) {
        CatalogImage catalog = table.catalog(List.of(ROLE));
        RulePlan plan = new RlsResolver(ProbePermission.ALLOW)
                .plan(
                        catalog,
                        Objects.requireNonNull(catalog.relation("public", "t")),
                        Objects.requireNonNull(catalog.role(ROLE)),
                        PinnedColumns.NONE);
        RulePlan.Verdict verdict = plan.complete(table.fold(ROLE, claims, plan.folds()));
        assertThat(verdict).isInstanceOf(RulePlan.Verdict.Granted.class);
        return ((RulePlan.Verdict.Granted) verdict).rule().meaning();
    }

    private static void using(String expression) {
        table.database().execute("ALTER POLICY one ON t USING (" + expression + ")");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "true",
                "u1 = auth.uid()",
                "u1 = (SELECT auth.uid())",
                "tx = mine() OR i4 > 2",
                "low(i4)",
                "upper(tx) LIKE 'A%' OR substring(vc from 1 for 2) = 'b'",
                "i4 IN (1, 2, 3) AND NOT fl IS TRUE",
                "us @> ARRAY[auth.uid()] OR u1 = ANY (us)",
                "mo = 'glad' OR rg @> i4 OR js ->> 'a' = 'b'",
                "CASE WHEN i4 > 1 THEN coalesce(tx, 'x') ELSE nullif(vc, 'y') END = greatest(tx, 'a')",
                "now() > '2020-01-01' AND i8 + 1 > 2",
                "asked(i4) AND tx = mine()",
                "EXISTS (SELECT FROM members WHERE members.id = i4)",
                "nd = 'a'"
            })
    void the_same_policy_read_again_or_written_again_is_the_same_rule(String expression) {
        using(expression);
        Meaning first = meaning(CLAIMS);
        assertThat(meaning(CLAIMS).sameAs(first)).isTrue();

        using(expression);
        table.database()
                .execute(
                        "CREATE POLICY zero ON t FOR SELECT TO service_role USING (i4 = 9)",
                        "CREATE POLICY two ON t FOR INSERT TO authenticated WITH CHECK (i4 = 9)",
                        "CREATE OR REPLACE FUNCTION low(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 10'",
                        "CREATE OR REPLACE FUNCTION asked(int) RETURNS bool LANGUAGE plpgsql STABLE AS"
                                + " 'BEGIN RETURN $1 < 10; END'");
        assertThat(meaning(CLAIMS).sameAs(first)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "u1 = auth.uid() | u2 = auth.uid()",
                "i4 = 1 | i4 = 2",
                "i4 = 1 | i4 <> 1",
                "i4 = 1 | i8 = 1",
                "i4 = 1 | true",
                "true | i4 = 1",
                "i4 = 1 | i4 = 1 AND fl",
                "i4 = 1 | i4 = 1 OR fl",
                "fl | NOT fl",
                "tx = 'a' | upper(tx) = 'a'",
                "tx LIKE 'a%' | tx NOT LIKE 'a%'",
                "i4 = 1 | asked(i4)",
                "asked(i4) | asked(i4 + 1)",
                "asked(i4) | NOT asked(i4)"
            })
    void another_policy_is_another_rule(String before, String after) {
        using(before);
        Meaning first = meaning(CLAIMS);
        using(after);

        assertThat(meaning(CLAIMS).sameAs(first)).isFalse();
        assertThat(first.sameAs(meaning(CLAIMS))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"i4 = 1", "asked(i4)"})
    void names_and_with_them_the_order_of_policies_make_no_difference(String expression) {
        using(expression);
        table.database().execute("CREATE POLICY two ON t FOR SELECT TO authenticated USING (fl OR fm)");
        Meaning first = meaning(CLAIMS);
        table.database().execute("ALTER POLICY two ON t RENAME TO zero");

        assertThat(meaning(CLAIMS).sameAs(first)).isTrue();

        table.database().execute("CREATE POLICY two ON t AS RESTRICTIVE FOR SELECT TO authenticated USING (fl)");
        assertThat(meaning(CLAIMS).sameAs(first)).isFalse();
    }

    @Test
    void a_permissive_policy_is_not_a_restrictive_one() {
        using("asked(i4)");
        table.database().execute("CREATE POLICY two ON t FOR SELECT TO authenticated USING (fl)");
        Meaning first = meaning(CLAIMS);
        table.database()
                .execute(
                        "DROP POLICY two ON t",
                        "CREATE POLICY two ON t AS RESTRICTIVE FOR SELECT TO authenticated USING (fl)");

        assertThat(meaning(CLAIMS).sameAs(first)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"low(i4)", "asked(i4)"})
    void another_body_of_a_function_is_another_rule(String expression) {
        using(expression);
        Meaning first = meaning(CLAIMS);
        table.database()
                .execute(
                        "CREATE OR REPLACE FUNCTION low(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 20'",
                        "CREATE OR REPLACE FUNCTION asked(int) RETURNS bool LANGUAGE plpgsql STABLE AS"
                                + " 'BEGIN RETURN $1 < 20; END'");

        assertThat(meaning(CLAIMS).sameAs(first)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tx = mine()", "asked(i4) AND tx = mine()"})
    void what_the_caller_is_said_to_be_is_part_of_the_rule_and_nothing_else_of_the_token(String expression) {
        using(expression);
        Meaning first = meaning(CLAIMS);

        assertThat(meaning(CLAIMS.replace("}", ",\"more\":1}")).sameAs(first)).isTrue();
        assertThat(meaning(CLAIMS.replace("\"team\":\"a\"", "\"team\":\"b\"")).sameAs(first))
                .isFalse();
    }
}
