package sluice.core.expression;

import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.value.Truth;

/// Compares rows of expressions pair by pair, as `ExecEvalRowCompare` does.
final class RowComparisons {
    private RowComparisons() {}

    static Predicate compile(Expression.RowComparison rows) {
        Scalar[] left = ScalarCompiler.compileAll(rows.left());
        Scalar[] right = ScalarCompiler.compileAll(rows.right());
        ValueType<?>[] types = rows.left().stream().map(Expression::type).toArray(ValueType<?>[]::new);
        boolean raises = Parts.mayRaise(rows);
        return row -> {
            int order = 0;
            for (int i = 0; i < left.length && order == 0; i++) {
                Object a = left[i].evaluate(row);
                Object b = right[i].evaluate(row);
                if (a == null || b == null) {
                    return Truth.NULL;
                }
                if (Scalar.isUnknown(a) || Scalar.isUnknown(b)) {
                    if (raises) {
                        throw new UndecidableException();
                    }
                    return Truth.UNDECIDABLE;
                }
                order = types[i].order(a, b);
            }
            return Truth.of(rows.kind().holds(order));
        };
    }
}
