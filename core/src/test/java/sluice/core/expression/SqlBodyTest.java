package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which string bodies are proven to read nothing but the caller's settings.
class SqlBodyTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "select nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'",
                """
                  select
                  coalesce(
                    nullif(current_setting('request.jwt.claim.sub', true), ''),
                    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
                  )::uuid
                """,
                "SELECT coalesce(current_setting('request.jwt.claim', true), current_setting('request.jwt.claims', true))::jsonb;",
                "select (current_setting('request.jwt.claims')::json #>> '{app_metadata,team}')::bigint as team",
                "select cast(pg_catalog.current_setting('request.jwt.claims', true) as pg_catalog.jsonb) -> 'a' = 'b'",
                "select $1 is not null and not ($2 = 'x' or lower('ABC') is null) -- FROM secrets\n",
                "select (select current_user)"
            })
    void is_proven(String body) {
        assertThat(SqlBody.read(body)).isNotNull();
    }

    @Test
    void calls_are_named_for_a_proof_of_their_own() {
        SqlBody.Calls calls =
                Objects.requireNonNull(SqlBody.read("select auth.jwt() ->> 'x' = \"My Schema\".\"f\"(auth.uid())"));

        assertThat(calls.list())
                .containsExactly(
                        new SqlBody.Call("auth", "jwt"),
                        new SqlBody.Call("My Schema", "f"),
                        new SqlBody.Call("auth", "uid"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select exists (select 1 from admins)",
                "select true from admins",
                "select count(*) from t",
                "select now()::text",
                "select random()",
                "select current_timestamp",
                "select current_date",
                "select is_admin()",
                "select uid",
                "select current_setting('app.tenant', true)",
                "select current_setting('request.' || 'x')",
                "select current_setting(E'request.\\x61')",
                "select current_setting('TimeZone')",
                "select pg_catalog.now()",
                "select pg_catalog.nextval('s')",
                "select (table admins)",
                "values (true)",
                "with a as (select 1) select true",
                "insert into t values (1)",
                "select true; select true from t",
                "select 1 where true",
                "select x.* ",
                "select 'a'::regclass",
                "select 'a'::public.text",
                "select /* hidden */ 1",
                "select 1 /* from t */",
                "select $$a$$",
                "select u&'a'",
                "select e'a'",
                "select (select 1 limit 1)",
                "select array(select 1)",
                "select case when true then 1 end",
                "select lower",
                "select 'unfinished",
                "select (1",
                "select 1)",
                "select",
                "",
                "begin return true; end",
                "select \u212Alower('a')",
                "select 1 \u00a0from t"
            })
    void is_not_proven(String body) {
        assertThat(SqlBody.read(body)).isNull();
    }

    @Test
    void deep_nesting_is_not_proven_and_does_not_overflow() {
        assertThat(SqlBody.read("select " + "(".repeat(7_000) + "1" + ")".repeat(7_000)))
                .isNull();
    }
}
