package sluice.core.expression;

import sluice.core.datum.ArrayType;
import sluice.core.datum.EnumType;
import sluice.core.datum.ValueType;
import sluice.core.function.Pseudo;

/// What the pseudo-types of a function's declaration take.
final class PolymorphicTypes {
    private PolymorphicTypes() {}

    /// @param declared `pg_proc.proargtypes`
    static boolean accepts(int declared, ValueType<?> type) {
        return switch (declared) {
            case Pseudo.ANY, Pseudo.ANYELEMENT, Pseudo.ANYCOMPATIBLE -> true;
            case Pseudo.ANYNONARRAY, Pseudo.ANYCOMPATIBLENONARRAY -> !(type instanceof ArrayType);
            case Pseudo.ANYARRAY, Pseudo.ANYCOMPATIBLEARRAY -> type instanceof ArrayType;
            case Pseudo.ANYENUM -> type instanceof EnumType;
            case Pseudo.ANYRANGE, Pseudo.ANYCOMPATIBLERANGE -> type.isRange();
            default -> type.oid() == declared;
        };
    }
}
