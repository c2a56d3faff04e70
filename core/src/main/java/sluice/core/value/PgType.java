package sluice.core.value;

import java.util.List;

/// A PostgreSQL type, resolved down to what its text form means.
///
/// Composite types cannot contain themselves in PostgreSQL, so the references form a finite tree.
public sealed interface PgType {
    /// `pg_type.oid`.
    int oid();

    /// Schema-qualified where the schema is not `pg_catalog`, e.g. `uuid` or `public.mood`.
    String name();

    /// A base type, a range, a multirange or a pseudo-type: known by its oid, otherwise plain text.
    record Base(int oid, String name) implements PgType {}

    /// A base type of a user's whose values are read, stored and printed as `text` is, by the
    /// server's own functions:
    /// `citext`. What its operators do is another matter.
    record TextLike(int oid, String name) implements PgType {}

    /// @param delimiter `pg_type.typdelim` of the element, `,` except for `box`
    record Array(int oid, String name, PgType element, char delimiter) implements PgType {}

    /// @param attributes in attribute order, dropped ones left out
    record Composite(int oid, String name, List<Attribute> attributes) implements PgType {
        public Composite {
            attributes = List.copyOf(attributes);
        }
    }

    /// @param labels in `enumsortorder`
    record Enumeration(int oid, String name, List<Label> labels) implements PgType {
        public Enumeration {
            labels = List.copyOf(labels);
        }
    }

    /// @param base the type under the domain, which may be a domain itself
    record Domain(int oid, String name, PgType base) implements PgType {}

    /// One attribute of a composite type.
    record Attribute(String name, PgType type) {}

    /// One label of an enumeration.
    ///
    /// @param oid `pg_enum.oid`, which is what a constant in a stored expression holds
    record Label(int oid, String text) {}

    /// The type with every domain around it taken off.
    default PgType undomained() {
        PgType type = this;
        while (type instanceof Domain domain) {
            type = domain.base();
        }
        return type;
    }
}
