package sluice.server.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.authorization.NamedSemanticsPgTest.CLAIMS;
import static sluice.server.authorization.NamedSemanticsPgTest.agree;
import static sluice.server.authorization.NamedSemanticsPgTest.leftToPostgresql;
import static sluice.server.authorization.NamedSemanticsPgTest.prepared;
import static sluice.server.authorization.NamedSemanticsPgTest.table;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// `citext`, where it is installed.
class CaselessTextPgTest {
    private static final String ROLE = "authenticated";

    private static PolicyTable database;

    @BeforeAll
    static void open() {
        database = new PolicyTable(prepared(PostgresCluster.NEWEST, "caseless"));
        database.database()
                .execute(
                        "CREATE EXTENSION citext",
                        "CREATE COLLATION apart (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    /// `lower()` of both sides under the database's default collation, the column's notwithstanding.
    @Test
    void a_case_insensitive_text_is_compared_in_lower_case() {
        table(
                database,
                "caseless",
                "ci citext, cc citext COLLATE \"C\", cn citext COLLATE apart, tx text, cis citext[]",
                "('a', 'a', 'a', 'a', '{a,b}')",
                "('A', 'A', 'A', 'A', '{A}')",
                "('b', 'B', 'b', 'x', '{NULL}')",
                "('Alice@Example.com', '_', 'á', 'alice@example.com', '{}')",
                "('', 'aB', '', '', NULL)",
                "(NULL, NULL, NULL, NULL, NULL)");
        agree(
                database,
                "caseless",
                "ci = 'A'",
                "ci <> 'A'",
                "cc = 'B'",
                "cc < 'b'",
                "cc >= 'AB'",
                "cc > '_'",
                "ci IN ('a', 'x')",
                "ci NOT IN ('A', 'x')",
                "ci IS DISTINCT FROM 'A'",
                "'B' = ANY (cis)",
                "ci ~~ 'a%'",
                "ci LIKE 'ALICE@%'",
                "ci !~~ 'A'",
                "ci ~ '^a'",
                "ci ~* 'EXAMPLE'",
                "ci = tx::citext",
                "ci::text = 'A'",
                "ci = (auth.jwt() ->> 'mail')::citext",
                "lower(ci) = 'a'",
                "CASE ci WHEN 'A' THEN true ELSE false END",
                "NULLIF(ci, 'A') = 'B'",
                "length(ci) = 1",
                "ci || 'x' = 'Ax'");
        assertThat(new Hearing(database, "caseless", ROLE)
                        .one(CLAIMS, "ci = 'A'")
                        .ours())
                .isEqualTo("ttfffn");
        leftToPostgresql(database, "caseless", "a value of type public.citext[]", "cis = '{a,B}'");
        leftToPostgresql(database, "caseless", "put in order", "greatest(ci, 'a') = 'B'");
    }

    @Test
    void the_letters_of_a_case_insensitive_text_are_those_of_its_database() {
        for (String language : List.of("en-US", "tr-TR")) {
            PostgresDatabase created = PostgresCluster.of(PostgresCluster.NEWEST)
                    .createDatabase("letters", DatabaseOptions.plain().icu(language));
            created.withStandardRoles();
            created.execute(
                    "CREATE EXTENSION citext",
                    "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLES IN SCHEMA public");
            try (PolicyTable own = new PolicyTable(created)) {
                table(own, "names", "cc citext COLLATE \"C\"", "('á')", "('Á')", "('i')", "('I')", "(NULL)");
                if (language.equals("tr-TR")) {
                    leftToPostgresql(own, "names", "the letters of collation", "cc = 'i'");
                    continue;
                }
                Hearing.Outcome letters = new Hearing(own, "names", ROLE).one(CLAIMS, "cc = 'Á'");
                assertThat(letters.theirs()).isEqualTo("ttffn");
                assertThat(letters.agreesWhereItKnows()).as(letters.toString()).isTrue();
                agree(own, "names", "cc::text <> 'á' AND cc::text <> 'Á' AND cc = 'I'");
            }
        }
    }

    /// A type that is only called so, and functions that only look like the extension's.
    @Test
    void a_type_of_a_users_is_not_taken_for_the_text_it_looks_like() {
        try (PolicyTable own = new PolicyTable(prepared(PostgresCluster.NEWEST, "lookalike"))) {
            own.database()
                    .execute(
                            "CREATE TYPE citext",
                            "CREATE FUNCTION citextin(cstring) RETURNS citext LANGUAGE internal IMMUTABLE STRICT AS"
                                    + " 'textin'",
                            "CREATE FUNCTION citextout(citext) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS"
                                    + " 'textout'",
                            "CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, COLLATABLE = true)",
                            "CREATE FUNCTION citext_eq(citext, citext) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT"
                                    + " AS 'BEGIN RETURN $1::text <> $2::text; END'",
                            "CREATE OPERATOR = (LEFTARG = citext, RIGHTARG = citext, FUNCTION = citext_eq)",
                            "CREATE FUNCTION same(citext, citext) RETURNS bool LANGUAGE internal IMMUTABLE STRICT"
                                    + " AS 'textlike'",
                            "CREATE OPERATOR ~~~ (LEFTARG = citext, RIGHTARG = citext, FUNCTION = same)",
                            "CREATE CAST (citext AS text) WITHOUT FUNCTION");
            table(own, "foreigners", "ci citext", "('a')", "('A')", "(NULL)");
            leftToPostgresql(own, "foreigners", "operator \"=\" on", "ci = 'a'");
            agree(own, "foreigners", "ci ~~~ 'a%'", "ci::text = 'a'");
        }
    }
}
