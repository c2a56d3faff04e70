package sluice.core.expression;

import org.jspecify.annotations.Nullable;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// The types whose values are compared in process.
///
/// A value is held as PostgreSQL's text form. For each of these types that form is canonical: two values are equal
/// exactly when their texts are, so the log's bytes can be compared as they are.
public enum ValueType {
    BOOL(Oid.BOOL, 1000, "bool", Representation.TRUTH),
    INT2(Oid.INT2, 1005, "int2", Representation.INTEGER),
    INT4(Oid.INT4, 1007, "int4", Representation.INTEGER),
    INT8(Oid.INT8, 1016, "int8", Representation.INTEGER),
    TEXT(Oid.TEXT, 1009, "text", Representation.BYTES),
    VARCHAR(Oid.VARCHAR, 1015, "varchar", Representation.BYTES),
    UUID(Oid.UUID, 2951, "uuid", Representation.BYTES);

    /// How a compiled expression holds a value.
    enum Representation {
        TRUTH,
        INTEGER,
        /// The text's UTF-8, compared unsigned. For `uuid` that is the order of its sixteen bytes too.
        BYTES
    }

    private final int oid;
    private final int arrayOid;
    private final String typeName;
    private final Representation representation;

    ValueType(int oid, int arrayOid, String typeName, Representation representation) {
        this.oid = oid;
        this.arrayOid = arrayOid;
        this.typeName = typeName;
        this.representation = representation;
    }

    /// `pg_type.oid`.
    public int oid() {
        return oid;
    }

    int arrayOid() {
        return arrayOid;
    }

    /// Name inside `pg_catalog`.
    String typeName() {
        return typeName;
    }

    Representation representation() {
        return representation;
    }

    /// Whether PostgreSQL's comparison of two values asks a collation.
    boolean collatable() {
        return this == TEXT || this == VARCHAR;
    }

    /// The type with that oid, null when its values are not compared in process.
    static @Nullable ValueType ofOid(int oid) {
        for (ValueType type : values()) {
            if (type.oid == oid) {
                return type;
            }
        }
        return null;
    }

    /// The element type of an array type, null when it is not an array of one of these.
    static @Nullable ValueType ofArrayOid(int oid) {
        for (ValueType type : values()) {
            if (type.arrayOid == oid) {
                return type;
            }
        }
        return null;
    }

    /// The type under any domains, null when its values are not compared in process.
    public static @Nullable ValueType of(PgType type) {
        return ofOid(type.undomained().oid());
    }
}
