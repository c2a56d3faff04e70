package sluice.core.datum;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// The types whose values are known in process.
public final class ValueTypes {
    public static final ValueType<Boolean> BOOL = new BoolType();
    public static final ValueType<Long> INT2 = IntegerType.signed(Oid.INT2, 1005, "pg_catalog.int2", 2);
    public static final ValueType<Long> INT4 = IntegerType.signed(Oid.INT4, 1007, "pg_catalog.int4", 4);
    public static final ValueType<Long> INT8 = IntegerType.signed(Oid.INT8, 1016, "pg_catalog.int8", 8);
    public static final ValueType<Long> OID = IntegerType.unsigned(Oid.OID, 1028, "pg_catalog.oid");
    public static final ValueType<String> TEXT = new TextType(Oid.TEXT, 1009, "pg_catalog.text");
    public static final ValueType<String> VARCHAR = new TextType(Oid.VARCHAR, 1015, "pg_catalog.varchar");
    public static final ValueType<String> UUID = new UuidType();

    private static final Map<Integer, ValueType<?>> BY_OID = new HashMap<>();

    static {
        List<ValueType<?>> scalars = new ArrayList<>(List.of(BOOL, INT2, INT4, INT8, OID, TEXT, VARCHAR, UUID));
        scalars.addAll(NumberTypes.ALL);
        scalars.addAll(TextTypes.ALL);
        scalars.addAll(TimeTypes.ALL);
        scalars.addAll(JsonTypes.ALL);
        scalars.addAll(NetworkTypes.ALL);
        scalars.addAll(RangeTypes.ALL);
        for (ValueType<?> scalar : scalars) {
            BY_OID.put(scalar.oid(), scalar);
            if (scalar.arrayOid() != 0) {
                BY_OID.put(scalar.arrayOid(), new ArrayType(scalar.arrayOid(), scalar));
            }
        }
    }

    private ValueTypes() {}

    /// The built-in type with that oid, null when its values are not known in process.
    public static @Nullable ValueType<?> ofOid(int oid) {
        return BY_OID.get(oid);
    }

    /// The type under any domains, null when its values are not known in process.
    public static @Nullable ValueType<?> of(PgType type) {
        PgType base = type.undomained();
        ValueType<?> known = BY_OID.get(base.oid());
        if (known != null) {
            return known;
        }
        return switch (base) {
            case PgType.Enumeration enumeration -> new EnumType(enumeration, 0, enumeration.name());
            case PgType.Array(var oid, var name, var element, var delimiter) -> {
                // An array of a domain is stored as one of its base, but is another type to every function.
                ValueType<?> elementType = element instanceof PgType.Domain || delimiter != ',' ? null : of(element);
                yield elementType == null || elementType instanceof ArrayType ? null : new ArrayType(oid, elementType);
            }
            case PgType.TextLike(var oid, var name) -> new TextLikeType(oid, name);
            case PgType.Base ignored -> null;
            case PgType.Composite ignored -> null;
            case PgType.Domain ignored -> null;
        };
    }

    /// The type of an array's elements, null when it is not an array.
    public static @Nullable ValueType<?> element(@Nullable ValueType<?> type) {
        return type instanceof ArrayType array ? array.element() : null;
    }

    /// The array type of an element type, null when there is none that is known.
    public static @Nullable ValueType<?> arrayOf(ValueType<?> element) {
        return element.arrayOid() == 0 ? null : BY_OID.get(element.arrayOid());
    }
}
