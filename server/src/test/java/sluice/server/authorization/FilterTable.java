package sluice.server.authorization;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.testkit.PostgresDatabase;

/// The table `public."f.t"` with a column of every kind of type, values that are easy to get wrong in each, and texts
/// that clients might write for them.
final class FilterTable {
    static final String NAME = "f.t";

    /// One column.
    ///
    /// @param literals of the type in several spellings, and some that are none of it
    record Kind(String name, String type, List<String> values, List<String> literals) {
        String quoted() {
            return "\"" + name.replace("\"", "\"\"") + "\"";
        }
    }

    private static final List<String> TEXTS =
            List.of("a", "b", "ab", "a\nb", "", " a", "é", "\\", "it's", "NULL", "A", "%", "_", "a,b", "\"", "(", "日本");
    private static final List<String> NUMBERS =
            List.of("0", "1", "-1", "1.5", "1.50", "100", "100.00", "NaN", "0.001", "-0.5", "12345.67");
    private static final List<String> TIMES =
            List.of("2024-06-01 12:00:00", "2024-06-01 12:00:00.5", "infinity", "-infinity", "0044-03-15 00:00:00 BC");

    static final List<Kind> KINDS = List.of(
            kind("Full.Name", "text", TEXTS),
            kind("q\"b?", "text", TEXTS),
            kind("cc", "text COLLATE \"C\"", TEXTS),
            kind("ic", "text COLLATE \"en-x-icu\"", TEXTS),
            kind("nd", "text COLLATE loose", TEXTS),
            kind("dt", "word", TEXTS),
            kind("vc", "varchar(6)", TEXTS),
            kind("bp", "char(4)", List.of("a", "ab", "", "a  b", "A"), "a   ", "ab", "abcdef", " a"),
            kind("nm", "name", TEXTS, "x".repeat(70)),
            kind("i2", "int2", List.of("0", "1", "-1", "32767", "-32768"), "01", " 1 ", "32768", "1.0"),
            kind("i4", "int4", List.of("0", "1", "-1", "2147483647", "-2147483648"), "007", "abc", ""),
            kind(
                    "i8",
                    "int8",
                    List.of("0", "1", "9007199254740993", "9223372036854775807", "-9223372036854775808"),
                    "9007199254740992",
                    "9223372036854775808"),
            kind("ds", "small", List.of("0", "1", "2"), "1000001", "2"),
            kind("oi", "oid", List.of("0", "1", "4294967295"), "-1"),
            kind("nu", "numeric", NUMBERS, "15e-1", "1.500", "Infinity", "-0", "."),
            kind("n2", "numeric(8,2)", NUMBERS, "1.505", "15e-1"),
            kind("f4", "float4", List.of("0", "-0", "0.1", "1.5", "NaN", "Infinity", "16777216"), "0.10000000149"),
            kind("f8", "float8", List.of("0", "-0", "0.1", "1.5", "NaN", "-Infinity", "1e300"), "1e400", "0.1"),
            kind("bo", "bool", List.of("t", "f"), "yes", "0", "TRUE", "maybe", "on"),
            kind("db", "flag", List.of("t", "f"), "no"),
            kind(
                    "uu",
                    "uuid",
                    List.of("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-00000000000a"),
                    "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
                    "undefined"),
            kind("by", "bytea", List.of("\\x", "\\x00ff", "\\x61"), "a", "\\x00FF", "\\"),
            kind("da", "date", List.of("2024-06-01", "infinity", "0001-01-01 BC"), "20240601", "2024-06-31"),
            kind("ti", "time", List.of("12:00:00", "24:00:00", "12:00:00.25"), "12:00", "25:00"),
            kind("tz", "timetz", List.of("12:00:00+00", "14:00:00+02"), "12:00Z"),
            kind("ts", "timestamp", TIMES, "2024-06-01T12:00Z", "not-a-date"),
            kind("tt", "timestamptz", TIMES, "2024-06-01T12:00Z", "2024-06-01T14:00:00+02:00"),
            kind("iv", "interval", List.of("1 day", "24:00:00", "1 mon", "30 days", "-1 day"), "P1D", "x"),
            kind("js", "json", List.of("{\"a\": 1}", "null")),
            kind("jb", "jsonb", List.of("{\"a\": 1}", "null", "1.0", "1.00"), "{\"a\":1}", "{"),
            kind("en", "mood", List.of("sad", "ok", "happy"), "nope"),
            kind("ai", "int4[]", List.of("{}", "{1,2}", "{NULL}", "{{1},{2}}"), "{1, 2}", "{a}"),
            kind("ip", "inet", List.of("10.0.0.1", "10.0.0.0/8", "::1"), "10.0.0.1/32", "10"),
            kind("ir", "int4range", List.of("empty", "[1,5)", "(,)"), "(0,4]", "[2,1]"),
            kind("mr", "int4multirange", List.of("{}", "{[1,5)}"), "{[1,2),[2,5)}"),
            kind("pa", "pair", List.of("(1,a)", "(,)"), "(1,a)"));

    private FilterTable() {}

    private static Kind kind(String name, String type, List<String> values, String... more) {
        List<String> literals = new ArrayList<>(values);
        literals.addAll(List.of(more));
        return new Kind(name, type, values, literals);
    }

    static PolicyTable create(PostgresDatabase database, Random random, int rows) {
        database.withStandardRoles();
        database.execute(
                "CREATE DOMAIN small AS int CHECK (VALUE < 1000000)",
                "CREATE DOMAIN word AS text",
                "CREATE DOMAIN flag AS bool",
                "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
                "CREATE TYPE pair AS (x int, y text)",
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                // what nobody should be led to by a name
                "CREATE FUNCTION public.never(int4, int4) RETURNS bool LANGUAGE sql AS 'SELECT false'",
                "CREATE OPERATOR public.= (LEFTARG = int4, RIGHTARG = int4, FUNCTION = public.never)");
        StringBuilder columns = new StringBuilder("id int PRIMARY KEY");
        StringBuilder values = new StringBuilder("?");
        for (Kind kind : KINDS) {
            columns.append(", ").append(kind.quoted()).append(' ').append(kind.type);
            values.append(", ?::text::").append(kind.type.replaceAll(" COLLATE.*", ""));
        }
        database.execute(
                "CREATE TABLE public.\"" + NAME + "\" (" + columns + ")",
                "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLE public.\"" + NAME + "\"");
        for (int id = 1; id <= rows; id++) {
            List<@Nullable Object> row = new ArrayList<>(List.of(id));
            for (Kind kind : KINDS) {
                int index = random.nextInt(kind.values.size() + 1);
                row.add(index == kind.values.size() ? null : kind.values.get(index));
            }
            database.rows("INSERT INTO public.\"" + NAME + "\" VALUES (" + values + ")", row.toArray());
        }
        return new PolicyTable(database);
    }

    /// The rows by id, as pgoutput would send them.
    static List<RowImage> rows(PostgresDatabase database, Relation relation) {
        List<RelationDefinition.Column> columns = new ArrayList<>();
        StringBuilder select = new StringBuilder("id");
        columns.add(new RelationDefinition.Column("id", 23, -1, true));
        for (Kind kind : KINDS) {
            Column column = java.util.Objects.requireNonNull(relation.column(kind.name));
            columns.add(new RelationDefinition.Column(kind.name, column.typeOid(), column.typmod(), false));
            select.append(", ").append(kind.quoted());
        }
        ColumnMapping mapping =
                ColumnMapping.of(new RelationDefinition(relation.oid(), "public", NAME, 'd', columns), relation);
        List<RowImage> rows = new ArrayList<>();
        for (List<@Nullable String> row :
                database.rows("SELECT " + select + " FROM public.\"" + NAME + "\" ORDER BY id")) {
            rows.add(new RowImage(PolicyTable.tuple(row), mapping, Instant.EPOCH));
        }
        return rows;
    }
}
