package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;

/// Whether two expressions say the same of every row. In doubt they do not.
///
/// The order in which conditions or alternatives stand, and one of them standing there twice, make no difference to
/// which rows are visible.
public final class Likeness {
    private Likeness() {}

    public static boolean same(Expression one, Expression other) {
        if (one.equals(other)) {
            return true;
        }
        if (one instanceof Expression.And && other instanceof Expression.And) {
            return sameSet(conditions(one), conditions(other));
        }
        if (one instanceof Expression.Or && other instanceof Expression.Or) {
            return sameSet(alternatives(one), alternatives(other));
        }
        List<Expression> parts = one.parts();
        List<Expression> others = other.parts();
        if (!one.getClass().equals(other.getClass()) || parts.isEmpty() || parts.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < parts.size(); i++) {
            if (!same(parts.get(i), others.get(i))) {
                return false;
            }
        }
        // with the same parts, what is left to differ is the kind of comparison, the function, the type
        return one.withParts(others).equals(other);
    }

    private static boolean sameSet(List<Expression> some, List<Expression> others) {
        return contains(some, others) && contains(others, some);
    }

    private static boolean contains(List<Expression> all, List<Expression> sought) {
        for (Expression each : sought) {
            if (all.stream().noneMatch(known -> same(known, each))) {
                return false;
            }
        }
        return true;
    }

    private static List<Expression> conditions(Expression expression) {
        if (!(expression instanceof Expression.And(var arguments))) {
            return List.of(expression);
        }
        List<Expression> conditions = new ArrayList<>();
        arguments.forEach(argument -> conditions.addAll(conditions(argument)));
        return conditions;
    }

    private static List<Expression> alternatives(Expression expression) {
        if (!(expression instanceof Expression.Or(var arguments))) {
            return List.of(expression);
        }
        List<Expression> alternatives = new ArrayList<>();
        arguments.forEach(argument -> alternatives.addAll(alternatives(argument)));
        return alternatives;
    }
}
