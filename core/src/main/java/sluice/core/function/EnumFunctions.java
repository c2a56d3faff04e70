package sluice.core.function;

import java.util.List;
import sluice.core.datum.ValueType;

/// Enumerations (`enum.c`).
///
/// What lists the labels of a type is not here: a label may have been added after the catalog was read.
final class EnumFunctions {
    private EnumFunctions() {}

    static void register(FunctionTable table) {
        table.polymorphicOrder("enum_", Pseudo.ANYENUM);
        List<Integer> two = List.of(Pseudo.ANYENUM, Pseudo.ANYENUM);
        table.polymorphic("enum_larger", two, Pseudo.ANYENUM, (site, given) -> {
                    ValueType<?> type = site.argumentTypes().getFirst();
                    Object left = Arguments.notNull(given[0]);
                    Object right = Arguments.notNull(given[1]);
                    return type.order(left, right) > 0 ? left : right;
                })
                .neverRaises();
        table.polymorphic("enum_smaller", two, Pseudo.ANYENUM, (site, given) -> {
                    ValueType<?> type = site.argumentTypes().getFirst();
                    Object left = Arguments.notNull(given[0]);
                    Object right = Arguments.notNull(given[1]);
                    return type.order(left, right) < 0 ? left : right;
                })
                .neverRaises();
    }
}
