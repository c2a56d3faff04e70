package sluice.core.function;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntBiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// The functions of the server that are evaluated in process, by C symbol and argument types.
///
/// A family registers its own through the methods here, one line each. Unless a line says otherwise a function is
/// strict, may raise and asks no collation.
public final class FunctionTable {
    private static final FunctionTable BUILT_IN = new FunctionTable();

    private final Map<Key, BuiltIn> byKey = new LinkedHashMap<>();

    static {
        IntegerFunctions.register(BUILT_IN);
        BooleanFunctions.register(BUILT_IN);
        TextComparisons.register(BUILT_IN);
        NumberFunctions.register(BUILT_IN);
        TextFunctions.register(BUILT_IN);
        PatternFunctions.register(BUILT_IN);
        BinaryFunctions.register(BUILT_IN);
        TimeFunctions.register(BUILT_IN);
        JsonFunctions.register(BUILT_IN);
        ArrayFunctions.register(BUILT_IN);
        RangeFunctions.register(BUILT_IN);
        NetworkFunctions.register(BUILT_IN);
        EnumFunctions.register(BUILT_IN);
    }

    private FunctionTable() {}

    private record Key(String symbol, List<Integer> argumentTypes) {}

    /// A strict function of one argument.
    @FunctionalInterface
    interface Unary<A, R> {
        @Nullable
        R apply(A argument);
    }

    /// A strict function of two arguments.
    @FunctionalInterface
    interface Binary<A, B, R> {
        @Nullable
        R apply(A first, B second);
    }

    /// A strict function of three arguments.
    @FunctionalInterface
    interface Ternary<A, B, C, R> {
        @Nullable
        R apply(A first, B second, C third);
    }

    /// Whether a function that takes values of any type is ever decided for this one.
    public static boolean takes(BuiltIn function, ValueType<?> type) {
        return JsonConversion.takes(function.symbol(), type);
    }

    /// The function of the server with that symbol and those declared argument types, null when it is not evaluated
    /// in process.
    public static @Nullable BuiltIn find(String symbol, List<Integer> argumentTypes) {
        return BUILT_IN.byKey.get(new Key(symbol, argumentTypes));
    }

    /// Every function, in the order of registration.
    public static Collection<BuiltIn> all() {
        return Collections.unmodifiableCollection(BUILT_IN.byKey.values());
    }

    <A, R> Entry unary(String symbol, ValueType<A> argument, ValueType<R> result, Unary<A, R> body) {
        return put(symbol, List.of(argument), result, (_, arguments) -> body.apply(given(argument, arguments, 0)));
    }

    <A, B, R> Entry binary(
            String symbol, ValueType<A> first, ValueType<B> second, ValueType<R> result, Binary<A, B, R> body) {
        return put(
                symbol,
                List.of(first, second),
                result,
                (_, arguments) -> body.apply(given(first, arguments, 0), given(second, arguments, 1)));
    }

    <A, B, C, R> Entry ternary(
            String symbol,
            ValueType<A> first,
            ValueType<B> second,
            ValueType<C> third,
            ValueType<R> result,
            Ternary<A, B, C, R> body) {
        return put(
                symbol,
                List.of(first, second, third),
                result,
                (_, arguments) -> body.apply(
                        given(first, arguments, 0), given(second, arguments, 1), given(third, arguments, 2)));
    }

    /// A function over fixed types that looks at its call site.
    Entry sited(String symbol, List<ValueType<?>> arguments, ValueType<?> result, BuiltIn.Body body) {
        return put(symbol, arguments, result, body);
    }

    /// A function that declares pseudo-types; the call site has the real ones.
    Entry polymorphic(String symbol, List<Integer> argumentTypes, int resultType, BuiltIn.Body body) {
        return put(new BuiltIn(
                symbol,
                argumentTypes,
                resultType,
                BuiltIn.Nulls.STRICT,
                BuiltIn.Errors.POSSIBLE,
                BuiltIn.CollationUse.NONE,
                null,
                body));
    }

    /// The six comparisons of a type in its default order, named prefix and `eq ne lt le gt ge`.
    <A> void ordered(String prefix, ValueType<A> type) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            comparison(prefix + kind.suffix(), type, type, kind, BuiltIn.CollationUse.NONE);
        }
    }

    /// The six comparisons of two integer types.
    void ordered(String prefix, ValueType<Long> left, ValueType<Long> right) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            comparison(prefix + kind.suffix(), left, right, kind, BuiltIn.CollationUse.NONE);
        }
    }

    /// The six comparisons of two different types.
    <A, B> void orderedBy(String prefix, ValueType<A> left, ValueType<B> right, ToIntBiFunction<A, B> order) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            binary(prefix + kind.suffix(), left, right, ValueTypes.BOOL, (a, b) -> kind.holds(order.applyAsInt(a, b)))
                    .neverRaises();
        }
    }

    /// One comparison in the default order of both types, which have the same Java form.
    <A> Entry comparison(
            String symbol,
            ValueType<A> left,
            ValueType<A> right,
            ComparisonKind kind,
            BuiltIn.CollationUse collationUse) {
        return put(new BuiltIn(
                symbol,
                List.of(left.oid(), right.oid()),
                ValueTypes.BOOL.oid(),
                BuiltIn.Nulls.STRICT,
                BuiltIn.Errors.NEVER,
                collationUse,
                kind,
                (_, arguments) -> kind.holds(left.compare(given(left, arguments, 0), given(right, arguments, 1)))));
    }

    /// The six comparisons of the types a pseudo-type stands for, all of which have an order without a collation.
    void polymorphicOrder(String prefix, int pseudoType) {
        for (ComparisonKind kind : ComparisonKind.values()) {
            put(new BuiltIn(
                    prefix + kind.suffix(),
                    List.of(pseudoType, pseudoType),
                    ValueTypes.BOOL.oid(),
                    BuiltIn.Nulls.STRICT,
                    BuiltIn.Errors.NEVER,
                    BuiltIn.CollationUse.NONE,
                    kind,
                    (site, arguments) -> kind.holds(
                            site.argumentTypes().getFirst().order(present(arguments[0]), present(arguments[1])))));
        }
    }

    /// What was just registered, to say more of it.
    final class Entry {
        private final Key key;

        private Entry(Key key) {
            this.key = key;
        }

        /// It cannot raise, whatever its arguments are.
        Entry neverRaises() {
            return change(it -> new BuiltIn(
                    it.symbol(),
                    it.argumentTypes(),
                    it.resultType(),
                    it.nulls(),
                    BuiltIn.Errors.NEVER,
                    it.collationUse(),
                    it.comparison(),
                    it.body()));
        }

        /// It is called with NULL arguments too.
        Entry calledOnNull() {
            return onNull(BuiltIn.Nulls.CALLED);
        }

        /// Its body tells what the planner does with a NULL argument.
        Entry plannedOnNull() {
            return onNull(BuiltIn.Nulls.PLANNED);
        }

        private Entry onNull(BuiltIn.Nulls nulls) {
            return change(it -> new BuiltIn(
                    it.symbol(),
                    it.argumentTypes(),
                    it.resultType(),
                    nulls,
                    it.errors(),
                    it.collationUse(),
                    it.comparison(),
                    it.body()));
        }

        /// It depends on the collation.
        Entry uses(BuiltIn.CollationUse collationUse) {
            return change(it -> new BuiltIn(
                    it.symbol(),
                    it.argumentTypes(),
                    it.resultType(),
                    it.nulls(),
                    it.errors(),
                    collationUse,
                    it.comparison(),
                    it.body()));
        }

        private Entry change(UnaryOperator<BuiltIn> change) {
            byKey.computeIfPresent(key, (_, it) -> change.apply(it));
            return this;
        }
    }

    private Entry put(String symbol, List<ValueType<?>> arguments, ValueType<?> result, BuiltIn.Body body) {
        List<Integer> oids = new ArrayList<>();
        for (ValueType<?> argument : arguments) {
            oids.add(argument.oid());
        }
        return polymorphic(symbol, oids, result.oid(), body);
    }

    private Entry put(BuiltIn function) {
        Key key = new Key(function.symbol(), function.argumentTypes());
        if (byKey.put(key, function) != null) {
            throw new IllegalStateException("registered twice: " + function.symbol());
        }
        return new Entry(key);
    }

    private static <A> A given(ValueType<A> type, @Nullable Object[] arguments, int index) {
        return type.cast(present(arguments[index]));
    }

    /// An argument of a strict function.
    static Object present(@Nullable Object argument) {
        if (argument == null) {
            throw new IllegalStateException("a strict function was called on NULL");
        }
        return argument;
    }
}
