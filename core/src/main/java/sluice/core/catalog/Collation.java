package sluice.core.catalog;

/// One row of `pg_collation`, the database's default included (oid 100).
///
/// @param provider `libc`, `icu` or `builtin`
/// @param locale the provider's locale name, e.g. `C`, `C.UTF-8`, `de-AT`
/// @param determinism a deterministic collation calls two texts equal only when their bytes are
/// @param schema `pg_catalog` for the server's own
public record Collation(int oid, String name, String provider, String locale, Determinism determinism, String schema) {
    public static final int DEFAULT_OID = 100;

    /// One of the server's own.
    public Collation(int oid, String name, String provider, String locale, Determinism determinism) {
        this(oid, name, provider, locale, determinism, "pg_catalog");
    }

    /// `collisdeterministic`.
    public enum Determinism {
        DETERMINISTIC,
        NONDETERMINISTIC
    }
}
