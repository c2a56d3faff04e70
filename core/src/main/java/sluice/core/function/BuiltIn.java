package sluice.core.function;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;

/// One of PostgreSQL's own functions, evaluated in process.
///
/// @param symbol `pg_proc.prosrc`: what the server runs, whatever a function is called
/// @param argumentTypes `pg_proc.proargtypes`, pseudo-types such as {@link Pseudo#ANYARRAY} included
/// @param resultType `pg_proc.prorettype`
/// @param comparison what it asks of its two arguments' order, null when it is not a comparison of two values of one
///     type in that type's default order
public record BuiltIn(
        String symbol,
        List<Integer> argumentTypes,
        int resultType,
        Nulls nulls,
        Errors errors,
        CollationUse collationUse,
        @Nullable ComparisonKind comparison,
        Body body) {
    public BuiltIn {
        argumentTypes = List.copyOf(argumentTypes);
    }

    /// What a NULL argument does (`pg_proc.proisstrict`).
    public enum Nulls {
        /// The result is NULL and the function is not called.
        STRICT,
        /// As STRICT, but the planner may have answered in its place without asking for NULL: the body is
        /// called on NULL and says where that is so.
        PLANNED,
        CALLED
    }

    /// Whether a call may raise. In doubt it may: then nothing right of an argument that is not known is reached.
    public enum Errors {
        NEVER,
        POSSIBLE
    }

    /// What the result depends on besides the bytes, so which collations it is right under.
    public enum CollationUse {
        NONE,
        /// Right where equal means the same bytes: under deterministic collations.
        EQUALITY,
        /// Right where the order is that of the bytes.
        ORDER,
        /// Maps letters to upper or lower case; the body looks at {@link CallSite#collation()}.
        CASE
    }

    /// What runs.
    @FunctionalInterface
    public interface Body {
        /// @param arguments values in the Java form of their types; null only where the function is
        /// called on NULL
        /// @return a value in the Java form of the result type, or null for SQL NULL
        /// @throws sluice.core.datum.EvaluationException where PostgreSQL raises
        /// @throws sluice.core.datum.UndecidableException where the answer is not known here
        @Nullable
        Object apply(CallSite site, @Nullable Object[] arguments);

        /// The same function for a call some of whose arguments never change, with what can be done
        /// beforehand done.
        ///
        /// Does not throw what a call would: a constant is not looked at until it is needed.
        ///
        /// @param constants as many as there are arguments, null where one is not constant or is NULL
        default Body prepared(CallSite site, @Nullable Object[] constants) {
            return this;
        }

        /// Whether PostgreSQL may raise for such constants while it estimates how many rows a call holds for,
        /// and so fail every query, also one in which no row reaches the call.
        ///
        /// @param constants as for {@link #prepared}
        default boolean mayFailPlanning(CallSite site, @Nullable Object[] constants) {
            return false;
        }
    }

    /// What an expression says about a call.
    ///
    /// @param argumentTypes the types the arguments really have
    /// @param resultType the type the result really has
    public record CallSite(List<ValueType<?>> argumentTypes, ValueType<?> resultType, CollationRule collation) {
        public CallSite {
            argumentTypes = List.copyOf(argumentTypes);
        }
    }
}
