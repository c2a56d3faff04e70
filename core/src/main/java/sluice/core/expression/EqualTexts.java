package sluice.core.expression;

import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// What the texts of two values have in common when PostgreSQL's `=` calls the values equal.
///
/// Texts of a collatable type are meant under a deterministic collation.
public enum EqualTexts {
    /// They are the same, and values with the same text are equal.
    IDENTICAL,
    /// The same up to zeros at the end of a fraction: `numeric`.
    WITHOUT_TRAILING_ZEROS,
    /// The same up to blanks at the end: `bpchar`.
    WITHOUT_TRAILING_BLANKS,
    /// The same up to the sign of zero: floats.
    WITHOUT_SIGN_OF_ZERO,
    /// Nothing that is known here.
    UNRELATED;

    private static final int CHAR = 18;
    private static final int TIME = 1083;

    /// What holds for a type, domains taken off.
    public static EqualTexts of(PgType type) {
        PgType base = type.undomained();
        if (base instanceof PgType.Enumeration) {
            return IDENTICAL;
        }
        return switch (base.oid()) {
            case Oid.BOOL, Oid.INT2, Oid.INT4, Oid.INT8, Oid.OID -> IDENTICAL;
            case Oid.TEXT, Oid.VARCHAR, Oid.NAME, CHAR, Oid.UUID, Oid.BYTEA -> IDENTICAL;
            case Oid.DATE, TIME, Oid.TIMESTAMP, Oid.TIMESTAMPTZ -> IDENTICAL;
            case Oid.NUMERIC -> WITHOUT_TRAILING_ZEROS;
            case Oid.BPCHAR -> WITHOUT_TRAILING_BLANKS;
            case Oid.FLOAT4, Oid.FLOAT8 -> WITHOUT_SIGN_OF_ZERO;
            default -> UNRELATED;
        };
    }
}
