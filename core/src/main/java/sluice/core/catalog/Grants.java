package sluice.core.catalog;

import java.util.List;

/// What one role may read of one relation, as PostgreSQL itself answers (`has_schema_privilege`,
/// `has_column_privilege`), inherited rights included.
///
/// @param schemaUsage whether the role has USAGE on the schema
/// @param selectColumns attnums the role may SELECT
public record Grants(SchemaUsage schemaUsage, List<Integer> selectColumns) {
    public Grants {
        selectColumns = List.copyOf(selectColumns);
    }

    /// Nothing granted.
    public static final Grants NONE = new Grants(SchemaUsage.MISSING, List.of());

    /// USAGE on the relation's schema.
    public enum SchemaUsage {
        GRANTED,
        MISSING
    }

    public boolean covers(int attnum) {
        return schemaUsage == SchemaUsage.GRANTED && selectColumns.contains(attnum);
    }
}
