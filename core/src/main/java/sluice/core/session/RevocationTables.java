package sluice.core.session;

import org.jspecify.annotations.Nullable;

/// Which tables say that a session or a user may no longer be served.
///
/// @param users null when nobody is banned
/// @param banColumn the users table's column that says until when its user is banned
public record RevocationTables(Table sessions, @Nullable Table users, String banColumn) {
    /// The column of either table that tokens name.
    public static final String ID = "id";

    /// A table by its names as the catalog spells them.
    public record Table(String schema, String name) {
        /// `schema.name` as messages print it.
        public String qualifiedName() {
            return schema + "." + name;
        }
    }

    /// Whether a table of this name says who may be served.
    public boolean name(String schema, String name) {
        Table table = new Table(schema, name);
        return table.equals(sessions) || table.equals(users);
    }
}
