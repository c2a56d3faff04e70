package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.catalog.Operator;
import sluice.core.catalog.ServerOperators;
import sluice.core.catalog.Stamp;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

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
                "SELECT coalesce(current_setting('request.jwt.claim', true), current_setting('request.jwt.claims',"
                        + " true))::jsonb;",
                "select (current_setting('request.jwt.claims')::json #>> '{app_metadata,team}')::bigint as team",
                "select cast(pg_catalog.current_setting('request.jwt.claims', true) as pg_catalog.jsonb) -> 'a' = 'b'",
                "select $1 is not null and not ($2 = 'x' or lower('ABC') is null) -- FROM secrets\n",
                "select (select current_user)"
            })
    void is_proven(String body) {
        assertThat(read(body)).isNotNull();
    }

    @Test
    void calls_are_named_for_a_proof_of_their_own() {
        SqlBody.Calls calls =
                Objects.requireNonNull(read("select auth.jwt() ->> 'x' = \"My Schema\".\"f\"(auth.uid())"));

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
        assertThat(read(body)).isNull();
    }

    @Test
    void deep_nesting_is_not_proven_and_does_not_overflow() {
        assertThat(read("select " + "(".repeat(7_000) + "1" + ")".repeat(7_000)))
                .isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        select auth.jwt() ->> 'sub'           | ->>    | 3802 | 2950
        select auth.jwt() ->> 'sub'           | ->>    | 3802 | 3802
        select 'a' = auth.jwt() ->> 'sub'     | =      | 25   | 25
        select nullif(auth.jwt() ->> 'a', '') | =      | 25   | 25
        select 'a' = 'b'                      | =      | 16400 | 16400
        """)
    void an_operator_of_a_user_that_may_be_meant_takes_the_proof(String body, String name, int left, int right) {
        assertThat(read(body)).isNotNull();
        assertThat(read(body, new Operator(20_000, "app", name, left, right, Oid.BOOL, 20_001), null, null))
                .isNull();
    }

    @Test
    void an_operator_of_a_user_that_cannot_be_meant_takes_no_proof() {
        Operator ofTexts = new Operator(20_000, "app", "=", 16_400, 16_400, Oid.BOOL, 20_001);

        assertThat(read("select 'a' = auth.jwt() ->> 'sub'", ofTexts, null, null))
                .isNotNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        select lower(auth.jwt() ->> 'a')              | lower
        select pg_catalog.btrim('a')                  | btrim
        select current_setting('request.x', true)     | current_setting
        """)
    void a_function_of_a_user_that_may_be_meant_takes_the_proof(String body, String name) {
        assertThat(read(body)).isNotNull();
        assertThat(read(body, null, function(20_000, "app", name, List.of(Oid.JSONB), Oid.TEXT), null))
                .isNull();
    }

    @Test
    void a_cast_of_a_user_takes_the_proof_of_what_it_casts() {
        CatalogImage.Cast cast = new CatalogImage.Cast(Oid.TEXT, Oid.UUID);

        assertThat(read("select (auth.jwt() ->> 'sub')::uuid", null, null, cast))
                .isNull();
        assertThat(read("select (auth.jwt() ->> 'sub')::int8", null, null, cast))
                .isNotNull();
        assertThat(read("select 'a'::uuid", null, null, cast)).isNotNull();
    }

    private static SqlBody.@Nullable Calls read(String body) {
        return read(body, null, null, null);
    }

    /// Returning any type under which it is proven.
    private static SqlBody.@Nullable Calls read(
            String body, @Nullable Operator operator, @Nullable Function function, CatalogImage.@Nullable Cast cast) {
        CatalogImage catalog = catalog(operator, function, cast);
        for (int type : List.of(Oid.TEXT, Oid.BOOL, Oid.UUID, Oid.JSONB, Oid.INT8, Oid.INT4, Oid.NAME)) {
            SqlBody.Calls calls = read(body, catalog, type);
            if (calls != null) {
                return calls;
            }
        }
        return null;
    }

    private static SqlBody.@Nullable Calls read(String body, CatalogImage catalog, int returnType) {
        return SqlBody.read(
                body, new BodyNames(catalog, function(30_000, "app", "it", List.of(Oid.TEXT, Oid.TEXT), returnType)));
    }

    private static CatalogImage catalog(
            @Nullable Operator operator, @Nullable Function function, CatalogImage.@Nullable Cast cast) {
        Map<Integer, Operator> operators = ServerOperators.operators();
        int oid = 9_000;
        for (int json : List.of(Oid.JSON, Oid.JSONB)) {
            for (String name : List.of("->", "->>")) {
                for (int key : List.of(Oid.TEXT, Oid.INT4)) {
                    int result = name.equals("->") ? json : Oid.TEXT;
                    operators.put(oid, new Operator(oid++, "pg_catalog", name, json, key, result, 0));
                }
            }
            operators.put(oid, new Operator(oid++, "pg_catalog", "#>>", json, 1009, Oid.TEXT, 0));
        }
        operators.put(oid, new Operator(oid, "pg_catalog", "=", Oid.JSONB, Oid.JSONB, Oid.BOOL, 0));
        if (operator != null) {
            operators.put(operator.oid(), operator);
        }
        Map<Integer, Function> functions = new LinkedHashMap<>();
        functions.put(40_000, function(40_000, "auth", "jwt", List.of(), Oid.JSONB));
        functions.put(40_001, function(40_001, "auth", "uid", List.of(), Oid.UUID));
        functions.put(40_002, function(40_002, "My Schema", "f", List.of(Oid.UUID), Oid.TEXT));
        if (function != null) {
            functions.put(function.oid(), function);
        }
        Map<Integer, PgType> types = new LinkedHashMap<>();
        for (int type : List.of(Oid.TEXT, Oid.BOOL, Oid.UUID, Oid.JSONB, Oid.INT8, Oid.NAME)) {
            types.put(type, new PgType.Base(type, String.valueOf(ValueTypes.ofOid(type))));
        }
        return new CatalogImage(
                new Stamp(TransactionSnapshot.parse("100:100:"), Lsn.ZERO),
                List.of(),
                new CatalogImage.Dictionary(
                        18,
                        types,
                        new LinkedHashMap<>(),
                        functions,
                        operators,
                        new LinkedHashMap<>(),
                        cast == null ? List.of() : List.of(cast)));
    }

    private static Function function(int oid, String schema, String name, List<Integer> arguments, int returnType) {
        return new Function(
                oid,
                schema,
                name,
                "sql",
                Function.Volatility.STABLE,
                Function.Strictness.CALLED_ON_NULL,
                Function.Security.INVOKER,
                returnType,
                arguments,
                "",
                null,
                null,
                new LinkedHashMap<>(),
                "1");
    }
}
