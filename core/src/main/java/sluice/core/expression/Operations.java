package sluice.core.expression;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;
import sluice.core.function.BuiltIn;
import sluice.core.value.Truth;

/// Operators applied to two known values.
final class Operations {
    private Operations() {}

    /// Answers TRUE, FALSE or NULL.
    @FunctionalInterface
    interface Test {
        /// @param left not NULL, and known
        /// @param right not NULL, and known
        Truth test(Object left, Object right);
    }

    /// The values of those arguments that are constant, null for the others.
    static @Nullable Object[] constants(List<Expression> arguments) {
        @Nullable Object[] values = new Object[arguments.size()];
        for (int i = 0; i < values.length; i++) {
            if (arguments.get(i) instanceof Expression.Constant(var type, var text) && text != null) {
                values[i] = type.parse(text);
            }
        }
        return values;
    }

    /// @param type of the left side, in whose default order values are compared
    static Test test(Expression.Operation operation, ValueType<?> type) {
        return switch (operation) {
            case Expression.Operation.Compares(var kind) ->
                (left, right) -> Truth.of(kind.holds(type.order(left, right)));
            case Expression.Operation.Applies(var function, var site) ->
                (left, right) -> Compiler.truth(call(function, site, left, right));
        };
    }

    private static @Nullable Object call(BuiltIn function, BuiltIn.CallSite site, Object left, Object right) {
        return function.body().apply(site, new Object[] {left, right});
    }
}
