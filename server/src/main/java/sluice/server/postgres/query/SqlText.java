package sluice.server.postgres.query;

/// Values and names as SQL text.
public final class SqlText {
    private SqlText() {}

    /// A string constant, whatever `standard_conforming_strings` says.
    ///
    /// @throws IllegalArgumentException when the text holds a zero byte, which PostgreSQL cannot store
    public static String literal(String text) {
        refuseZero(text);
        String quoted = "'" + text.replace("'", "''") + "'";
        return text.indexOf('\\') < 0 ? quoted : " E" + quoted.replace("\\", "\\\\");
    }

    /// A name, always quoted: its case is kept and no keyword is met.
    ///
    /// @throws IllegalArgumentException when the name is empty or holds a zero byte
    public static String identifier(String name) {
        refuseZero(name);
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a name is not empty");
        }
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    /// `"schema"."name"`.
    public static String qualified(String schema, String name) {
        return identifier(schema) + "." + identifier(name);
    }

    private static void refuseZero(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("SQL text cannot hold a zero byte");
        }
    }
}
