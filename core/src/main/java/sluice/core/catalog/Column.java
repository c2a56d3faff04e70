package sluice.core.catalog;

/// One live column of a relation.
///
/// @param attnum `pg_attribute.attnum`, from 1, with gaps where columns were dropped
/// @param typeOid resolved by {@link CatalogImage#type(int)}
/// @param typmod `pg_attribute.atttypmod`, -1 when the type has none
/// @param collationOid `pg_attribute.attcollation`, 0 when the type has none
public record Column(
        int attnum,
        String name,
        int typeOid,
        int typmod,
        Nullability nullability,
        Generation generation,
        int collationOid) {
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
