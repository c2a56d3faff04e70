package sluice.core.expression;

import sluice.core.datum.ArrayType;
import sluice.core.datum.EnumType;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.Pseudo;

/// What the pseudo-types of a function's declaration take.
final class PolymorphicTypes {
    private PolymorphicTypes() {}

    /// Whether a value of the type is one of the declared type as it is: PostgreSQL writes no cast where a function
    /// that casts is applied to a binary compatible type.
    static boolean hasForm(ValueType<?> type, int declared) {
        ValueType<?> known = ValueTypes.ofOid(declared);
        return type.oid() == declared || (known != null && known.hasFormOf(type));
    }

    /// @param declared `pg_proc.proargtypes`
    static boolean accepts(int declared, ValueType<?> type) {
        return switch (declared) {
            case Pseudo.ANY, Pseudo.ANYELEMENT, Pseudo.ANYCOMPATIBLE -> true;
            case Pseudo.ANYNONARRAY, Pseudo.ANYCOMPATIBLENONARRAY -> !(type instanceof ArrayType);
            case Pseudo.ANYARRAY, Pseudo.ANYCOMPATIBLEARRAY -> type instanceof ArrayType;
            case Pseudo.ANYENUM -> type instanceof EnumType;
            case Pseudo.ANYRANGE, Pseudo.ANYCOMPATIBLERANGE -> type.isRange();
            default -> hasForm(type, declared);
        };
    }
}
