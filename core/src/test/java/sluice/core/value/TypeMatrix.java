package sluice.core.value;

import java.util.List;

/// Every kind of type with its least, greatest, empty and most awkward values, as SQL.
final class TypeMatrix {
    private TypeMatrix() {}

    /// @param type as CREATE TABLE takes it
    /// @param values expressions that are cast to the type
    record Kind(String type, List<String> values) {}

    /// Types the matrix needs, to be created first.
    static final String SETUP = """
            CREATE TYPE "Mood" AS ENUM ('sad', 'o"k', 'ha,ppy', 'NULL', '');
            CREATE DOMAIN posint AS int CHECK (value > 0);
            CREATE DOMAIN smaller AS posint CHECK (value < 1000);
            CREATE DOMAIN tags AS text[];
            CREATE DOMAIN moodd AS "Mood";
            CREATE TYPE pair AS (a int, "B c" text, t text[]);
            CREATE DOMAIN pairs AS pair[];
            CREATE DOMAIN paird AS pair;
            CREATE TYPE deep AS (p pair, ps pair[], j json, jb jsonb, tz timestamptz, m "Mood", d paird, "q""\\e" tags, f float8);
            CREATE TYPE lonely AS (one text);
            CREATE TYPE hollow AS ();
            CREATE TYPE span AS RANGE (subtype = timestamptz, multirange_type_name = spans);
            CREATE TYPE moods AS RANGE (subtype = "Mood");
            """;

    private static final String AWKWARD =
            "E'a\"b\\\\c\\n\\r\\t\\u0001\\u007f\\u0085\\u2028\\u2029\\U0001F600,;(){}[] NULL '";

    static final List<Kind> KINDS = List.of(
            kind("bool", "true", "false"),
            kind("int2", "-32768", "32767", "0"),
            kind("int4", "-2147483648", "2147483647"),
            kind("int8", "-9223372036854775808", "9223372036854775807", "9007199254740993"),
            kind("oid", "'0'", "'4294967295'", "'42'"),
            kind("float4", "'-0'", "'NaN'", "'Infinity'", "'3.4028235e38'", "'1e-45'", "0.1", "'1e10'", "16777217"),
            kind(
                    "float8",
                    "'-0'",
                    "'NaN'",
                    "'-Infinity'",
                    "'1.7976931348623157e308'",
                    "'5e-324'",
                    "0.1::float8 + 0.2",
                    "1e15",
                    "1e-7"),
            kind(
                    "numeric",
                    "'NaN'",
                    "'Infinity'",
                    "'-Infinity'",
                    "1e30",
                    "0.000000100",
                    "1.50",
                    "-0.0",
                    "12345678901234567890.12345678901234567890",
                    "repeat('9', 300)"),
            kind("numeric(12,4)", "99999999.9999", "-99999999.9999", "0", "1.5"),
            kind("money", "'1234.50'", "'-92233720368547758.08'", "0"),
            kind(
                    "text",
                    "''",
                    AWKWARD,
                    "'NULL'",
                    "repeat('x', 5000)",
                    "'t'",
                    "'1'",
                    "'{}'",
                    "'null'",
                    "E'\\ud83d\\ude00'"),
            kind("varchar(10)", "''", "'a,b'", "'żółć'"),
            kind("bpchar(5)", "''", "'ab'", "'é'"),
            kind("\"char\"", "'a'", "''", "'\"'", "'\\'"),
            kind("name", "'a b'", "''", "'pg\"x'"),
            kind("bytea", "'\\x00ff5c22'", "''", "'abc'"),
            kind("uuid", "'00000000-0000-0000-0000-000000000000'", "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'"),
            kind(
                    "date",
                    "'infinity'",
                    "'-infinity'",
                    "'4713-01-01 BC'",
                    "'5874897-12-31'",
                    "'2024-02-29'",
                    "'0044-03-15 BC'"),
            kind("time", "'00:00'", "'24:00'", "'23:59:59.999999'", "'00:00:00.000001'", "'12:30:00.10'"),
            kind("timetz", "'00:00+15:59'", "'24:00-15:59:59'", "'10:00+05:30'"),
            kind(
                    "timestamp",
                    "'infinity'",
                    "'-infinity'",
                    "'4713-01-01 BC'",
                    "'294276-12-31 23:59:59.999999'",
                    "'0001-01-01'",
                    "'2024-03-04 05:06:07.100'",
                    "'10000-01-01'",
                    "'0044-03-15 01:02:03.5 BC'"),
            kind(
                    "timestamptz",
                    "'infinity'",
                    "'-infinity'",
                    "'4713-01-02 00:00+00 BC'",
                    "'294276-12-31 23:59:59.999999+00'",
                    "'1883-11-18 12:00 America/New_York'",
                    "'2024-03-04 05:06:07.100+05:30'",
                    "'10000-01-01 00:00+00'",
                    "'0044-03-15 00:00+00 BC'"),
            kind("timestamptz(0)", "'2024-03-04 05:06:07.5+01'"),
            kind(
                    "interval",
                    "'1 year 2 mons 3 days 04:05:06.7'",
                    "'-1 mon +3 days'",
                    "'1 day -02:00'",
                    "'0'",
                    "'178000000 years'",
                    "'-00:00:00.000001'"),
            kind(
                    "json",
                    "'{\"b\" : 1, \"a\":[ 1.00,null,true ]}'",
                    "E'{\\n\\t\"a\" :\\r\\n [ ]\\n}'",
                    "'null'",
                    "'\"x\\u0041\\n\"'",
                    "'-0'",
                    "' [{}] '",
                    "E'\"\\u2028\\u0085\"'",
                    "'1e400'",
                    "'{\"k\":1,\"k\":2}'"),
            kind(
                    "jsonb",
                    "'{\"b\" : 1, \"a\":[ 1.00,null,true ]}'",
                    "'null'",
                    "'\"x\\u0041\\n\"'",
                    "'-0.0'",
                    "'[{}, [], \"\"]'",
                    "E'\"\\u2028\\u0085\"'",
                    "'1e400'",
                    "'{\"\":{\"\":\"\"}}'"),
            kind("jsonpath", "'$.a[*] ? (@ > 1)'"),
            kind("xml", "'<a b=\"c\">d</a>'", "''", "'x'"),
            kind("bit(3)", "B'101'", "B'000'"),
            kind("varbit", "B''", "B'1010'"),
            kind("inet", "'10.0.0.1'", "'10.0.0.1/8'", "'::1'", "'2001:db8::/32'"),
            kind("cidr", "'10.0.0.0/8'", "'::/0'"),
            kind("macaddr", "'08:00:2b:01:02:03'"),
            kind("macaddr8", "'08:00:2b:01:02:03:04:05'"),
            kind("point", "'(1,2)'", "'(NaN,-Infinity)'"),
            kind("line", "'{1,-1,0}'"),
            kind("lseg", "'[(0,0),(1,1)]'"),
            kind("box", "'((1,1),(0,0))'"),
            kind("path", "'[(0,0),(1,1)]'", "'((0,0),(1,1))'"),
            kind("polygon", "'((0,0),(1,1),(1,0))'"),
            kind("circle", "'<(0,0),1>'"),
            kind("tsvector", "$$'a b':1A 'c''d'$$", "''"),
            kind("tsquery", "'a & !b'", "''"),
            kind("pg_lsn", "'16/B374D848'", "'0/0'"),
            kind("xid", "'4294967295'"),
            kind("xid8", "'18446744073709551615'"),
            kind("cid", "'1'"),
            kind("tid", "'(1,2)'"),
            kind("regclass", "'pg_class'", "0"),
            kind("regtype", "'int4'"),
            kind("regproc", "'now'"),
            kind("pg_snapshot", "'10:20:10,14,15'"),
            kind("int2vector", "'1 2 3'", "''", "'-5'"),
            kind("oidvector", "'1 4294967295'", "''"),
            kind("int4range", "'[1,5)'", "'empty'", "'(,)'"),
            kind("numrange", "'[1.50,2]'", "'(-Infinity,NaN)'"),
            kind("daterange", "'[2024-01-01,2024-02-01)'"),
            kind("tstzrange", "'[2024-01-01 00:00+05,2024-02-01 00:00+00)'", "'empty'"),
            kind("tsrange", "'[2024-01-01 00:00,infinity)'"),
            kind("int4multirange", "'{[1,2),[5,6)}'", "'{}'"),
            kind("tstzmultirange", "'{[2024-01-01 00:00+05,2024-02-01 00:00+00)}'"),
            kind("span", "'[2024-01-01 00:00+05,)'"),
            kind("spans", "'{[2024-01-01 00:00+05,)}'"),
            kind("moods", "'[sad,\"o\\\"k\"]'"),
            kind("\"Mood\"", "'sad'", "'o\"k'", "'ha,ppy'", "'NULL'", "''"),
            kind("posint", "1", "2147483647"),
            kind("smaller", "999"),
            kind("tags", "'{a,\"b,c\",NULL,\"NULL\"}'", "'{}'"),
            kind("moodd", "'ha,ppy'"),
            kind(
                    "pair",
                    "ROW(1, 'x,(y) \"z\"', '{p,\"q r\"}')",
                    "ROW(NULL, NULL, NULL)",
                    "ROW(NULL, '', '{}')",
                    "ROW(-1, " + AWKWARD + ", ARRAY[" + AWKWARD + "])"),
            kind("paird", "ROW(1, 'a', '{NULL}')"),
            kind("pairs", "ARRAY[ROW(1, '\"', '{}')::pair, NULL]", "'{}'"),
            kind("lonely", "ROW(NULL::text)", "ROW('')", "ROW('\"')", "ROW(')')"),
            kind("hollow", "'()'"),
            kind(
                    "deep",
                    "ROW(ROW(1,'\"\\',ARRAY[" + AWKWARD
                            + "])::pair, ARRAY[ROW(2,'{\"}',NULL)::pair, NULL], '{\"j\": [\"\\\"\\\\\", {}]}'::json, '{\"k\": \"\\\"(,)\"}'::jsonb, '2024-01-01 00:00+05', 'o\"k', ROW(3,'',ARRAY['']::text[])::paird, '{\"\\\"\",\"\\\\\"}', '-0')",
                    "ROW(NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)"),
            kind("bool[]", "'{t,f,NULL}'", "'{}'"),
            kind("int4[]", "'[3:5]={1,NULL,3}'", "'{{1,2},{3,4}}'", "'[-1:0][5:6]={{1,2},{3,4}}'", "'{{{{{{1}}}}}}'"),
            kind("int8[]", "'{9007199254740993}'"),
            kind("oid[]", "'{1,2}'"),
            kind("float8[]", "'{NaN,1,-0,Infinity,1e20}'"),
            kind("numeric[]", "'{0.10,Infinity,NULL}'"),
            kind(
                    "text[]",
                    "ARRAY['a,b','','NULL',NULL,'x\"y','back\\slash','{br}',' sp '," + AWKWARD + "]",
                    "'{}'",
                    "'{null,NULL,\"null\",\"NULL\"}'",
                    "'[0:0]={x}'"),
            kind("bpchar(3)[]", "'{a,\"\"}'"),
            kind("\"char\"[]", "'{a,\"\\\"\",\"\"}'"),
            kind("name[]", "'{a,\"b c\"}'"),
            kind("bytea[]", "ARRAY['\\x00ff'::bytea, '']"),
            kind("uuid[]", "'{00000000-0000-0000-0000-000000000000}'"),
            kind("date[]", "'{infinity,\"0044-03-15 BC\"}'"),
            kind("timestamp[]", "'{infinity,\"0044-03-15 00:00 BC\",2024-01-01}'"),
            kind(
                    "timestamptz[]",
                    "ARRAY['2024-01-01 00:00+05','infinity',NULL,'0044-03-15 00:00+00 BC']::timestamptz[]"),
            kind("interval[]", "'{\"1 day -02:00\"}'"),
            kind("json[]", "ARRAY['{\"k\":\"a,\\\"b\\\"\"}', 'null', NULL, '\"NULL\"', '[1, 2]']::json[]"),
            kind(
                    "jsonb[]",
                    "ARRAY['{\"k\":\"a,\\\"b\\\"\"}', 'null', NULL, '\"NULL\"', '[1, 2]']::jsonb[]",
                    "ARRAY[ARRAY['{}']]::jsonb[]"),
            kind("xml[]", "ARRAY['<a b=\"c\"/>'::xml]"),
            kind("money[]", "'{1.50}'"),
            kind("bit(3)[]", "'{101}'"),
            kind("inet[]", "'{10.0.0.1/8,::1}'"),
            kind("macaddr[]", "'{08:00:2b:01:02:03}'"),
            kind("point[]", "ARRAY['(1,2)'::point]"),
            kind("line[]", "ARRAY['{1,-1,0}'::line, NULL]"),
            kind("box[]", "ARRAY['((1,1),(0,0))'::box,'((3,3),(2,2))'::box]", "'{}'", "'[2:3]={(1,1),(0,0);NULL}'"),
            kind("polygon[]", "ARRAY['((0,0),(1,1))'::polygon]"),
            kind("tsvector[]", "ARRAY['a:1'::tsvector]"),
            kind("pg_lsn[]", "'{0/1}'"),
            kind("regclass[]", "'{pg_class}'"),
            kind("int2vector[]", "ARRAY['1 2','3','']::int2vector[]"),
            kind("oidvector[]", "ARRAY['1 2']::oidvector[]"),
            kind("int4range[]", "'{\"[1,5)\",empty}'"),
            kind("tstzrange[]", "ARRAY['[2024-01-01 00:00+05,)'::tstzrange]"),
            kind("int4multirange[]", "ARRAY['{[1,2),[5,6)}'::int4multirange]"),
            kind("\"Mood\"[]", "ARRAY['sad','o\"k','ha,ppy','NULL','',NULL]::\"Mood\"[]"),
            kind("posint[]", "'{1,2}'"),
            kind("tags[]", "ARRAY['{a,\"b,c\"}','{}']::tags[]"),
            kind(
                    "pair[]",
                    "ARRAY[ROW(1,'',ARRAY[]::text[])::pair, NULL, ROW(2," + AWKWARD + ",ARRAY['\"',NULL])::pair]",
                    "'{}'"),
            kind("lonely[]", "ARRAY[ROW(NULL::text)::lonely, ROW('')::lonely]"),
            kind(
                    "deep[]",
                    "ARRAY[ROW(ROW(1,'\"\\',ARRAY['\"\\'])::pair, ARRAY[ROW(2,'{\"}',NULL)::pair], '[\"\\\"\"]', '[\"\\\"\"]', '2024-01-01 00:00+05', 'ha,ppy', NULL, '{\"\\\"\"}', 'NaN')::deep, NULL]"),
            kind("pairs[]", "ARRAY[ARRAY[ROW(1,'\"',NULL)::pair]::pairs]"),
            kind("pg_class", "(SELECT c FROM pg_class c WHERE oid = 'pg_type'::regclass)"));

    private static Kind kind(String type, String... values) {
        return new Kind(type, List.of(values));
    }
}
