package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;

/// A column of the table under judgement.
///
/// @param type `pg_type.typname`, the type of an expression that is only this column
/// @param declared what `CREATE TABLE` says
record JudgedColumn(String name, String type, String declared, List<String> values) {
    /// Two of each type, and of some types more: with lengths, with collations.
    static List<JudgedColumn> all(JudgedTypes types) {
        List<JudgedColumn> columns = new ArrayList<>();
        for (String type : types.names()) {
            String name = type.startsWith("_") ? "a" + type : type;
            columns.add(new JudgedColumn(name + "_1", type, type, types.of(type)));
            columns.add(new JudgedColumn(name + "_2", type, type, types.of(type)));
        }
        List<String> texts = types.of("text");
        columns.add(new JudgedColumn(
                "numeric_t", "numeric", "numeric(12,2)", List.of("0", "1", "-1.50", "2.50", "10", "0.10", "NaN")));
        columns.add(new JudgedColumn("varchar_t", "varchar", "varchar(3)", List.of("", "a", "ab", "abc", "a ", "é")));
        columns.add(new JudgedColumn("bpchar_t", "bpchar", "char(4)", List.of("", "a", "ab", "abcd", "é", " a", "A")));
        columns.add(new JudgedColumn("text_c", "text", "text COLLATE \"C\"", texts));
        columns.add(new JudgedColumn("text_p", "text", "text COLLATE \"POSIX\"", texts));
        columns.add(new JudgedColumn(
                "text_n", "text", "text COLLATE loose", List.of("a", "A", "b", "B", "é", "É", "ab", "aB", "")));
        columns.add(new JudgedColumn("text_i", "text", "text COLLATE austrian", texts));
        columns.add(new JudgedColumn("Mixed Case", "text", "text", texts));
        for (String type : types.names()) {
            if (!spelt(type)) {
                continue;
            }
            // texts, but not drawn as any text column is
            columns.add(new JudgedColumn("s_" + type, "", "text", types.spellings(type)));
        }
        return List.copyOf(columns);
    }

    /// Few array and range types have one: they share the code that reads them.
    static boolean spelt(String type) {
        boolean many = type.startsWith("_") || JudgedTypes.RANGES.containsKey(type);
        return !many
                || List.of("_int4", "_text", "_bool", "_jsonb", "int4range", "tstzrange")
                        .contains(type);
    }

    /// The column of texts that are, mostly, values of the type.
    static String spelling(String type) {
        return "\"s_" + type + "\"";
    }

    String sql() {
        return '"' + name + '"';
    }
}
