package sluice.core.catalog;

import org.jspecify.annotations.Nullable;

/// One live column of a relation.
///
/// @param attnum `pg_attribute.attnum`, from 1, with gaps where columns were dropped
/// @param typeOid resolved by {@link CatalogImage#type(int)}
/// @param typmod `pg_attribute.atttypmod`, -1 when the type has none
/// @param collationOid `pg_attribute.attcollation`, 0 when the type has none
/// @param generationTree `pg_attrdef.adbin` of a generated column: how it follows from the others; null for a plain
///     one, and where a partition stores what another expression makes
public record Column(
        int attnum,
        String name,
        int typeOid,
        int typmod,
        Nullability nullability,
        Generation generation,
        int collationOid,
        @Nullable String generationTree) {
    /// A column about whose generation nothing more is known.
    public Column(
            int attnum,
            String name,
            int typeOid,
            int typmod,
            Nullability nullability,
            Generation generation,
            int collationOid) {
        this(attnum, name, typeOid, typmod, nullability, generation, collationOid, null);
    }

    /// Whether the column was declared NOT NULL.
    public enum Nullability {
        NULLABLE,
        NOT_NULL
    }

    /// `pg_attribute.attgenerated`.
    public enum Generation {
        NONE,
        STORED,
        VIRTUAL
    }
}
