package sluice.core.function;

import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;

/// Arguments of strict functions that take the whole list.
final class Arguments {
    private Arguments() {}

    static <A> A given(ValueType<A> type, @Nullable Object argument) {
        return type.cast(notNull(argument));
    }

    static Object notNull(@Nullable Object argument) {
        if (argument == null) {
            throw new IllegalStateException("a strict function was called on NULL");
        }
        return argument;
    }
}
