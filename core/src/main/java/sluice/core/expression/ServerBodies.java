package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;

/// The functions that come with the server and are written in SQL, such as `round(numeric)` or
/// `interval + timestamptz`: each is one expression over its parameters.
final class ServerBodies {
    /// Bodies within bodies.
    static final int DEPTH_MAX = 8;

    private ServerBodies() {}

    /// @param target the expression the function returns
    record Body(Function function, Node.Struct target) {
        /// @param result the target, read with the arguments in the place of the parameters
        Expression called(List<Expression> arguments, Expression result) throws NotCompilable {
            if (result.type().oid() != function.returnType()) {
                throw new NotCompilable("a function of the server returns another type than it says");
            }
            if (function.strictness() == Function.Strictness.CALLED_ON_NULL || arguments.isEmpty()) {
                return result;
            }
            List<Expression> nulls = new ArrayList<>();
            int raising = 0;
            for (Expression argument : arguments) {
                Expression test = new Expression.NullTest(argument, Expression.NullSense.IS_NULL);
                // PostgreSQL evaluates all arguments first, so the one that may raise is not passed over for a NULL.
                if (Parts.mayRaise(argument)) {
                    nulls.addFirst(test);
                    raising++;
                } else {
                    nulls.add(test);
                }
            }
            if (raising > 1) {
                throw new NotCompilable("two arguments of a function written in SQL may raise");
            }
            return new Expression.Case(List.of(Connectives.or(nulls)), List.of(none(result)), result);
        }

        /// NULL, for which a body that may raise is evaluated all the same: where the planner has put it in the
        /// place of the call it raises for what it makes of the other arguments.
        private static Expression none(Expression result) {
            Expression none = new Expression.Constant(result.type(), null);
            Expression test = new Expression.NullTest(result, Expression.NullSense.IS_NULL);
            return Parts.mayRaise(result) ? new Expression.Case(List.of(test), List.of(none), none) : none;
        }
    }

    /// The body of a function that initdb made, null when the function is not such a one.
    static @Nullable Body of(CatalogImage catalog, int functionOid) throws NotCompilable {
        Function function = catalog.function(functionOid);
        String text = function == null ? null : function.body();
        if (function == null
                || text == null
                || !BuiltIns.ofTheServer(function)
                || !function.language().equals("sql")
                || function.volatility() == Function.Volatility.VOLATILE) {
            return null;
        }
        if (!(NodeTree.read(text) instanceof Node.Struct query) || !TreeReading.plainSelect(query)) {
            return null;
        }
        List<Node.Struct> targets = TreeReading.structs(query.list("targetList"));
        return targets.size() == 1 ? new Body(function, targets.getFirst().struct("expr")) : null;
    }
}
