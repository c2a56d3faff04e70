package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Operator;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.ComparisonKind;

/// Makes expressions of PostgreSQL's operators, for policies and filters alike.
final class Operators {
    private final CatalogImage catalog;

    Operators(CatalogImage catalog) {
        this.catalog = catalog;
    }

    /// The operator applied to its arguments, one or two.
    ///
    /// @throws NotCompilable when it is not evaluated in process, with these types or under this collation
    Expression apply(Operator operator, int resultOid, int collationOid, List<Expression> arguments)
            throws NotCompilable {
        Expression.Call call = call(operator, resultOid, collationOid, arguments);
        ComparisonKind kind = call.function().comparison();
        return kind != null && arguments.size() == 2
                ? new Expression.Comparison(kind, arguments.getFirst(), arguments.getLast())
                : call;
    }

    /// The operator as a test of two values of these sides' types.
    Expression.Operation operation(Operator operator, int collationOid, List<Expression> sides) throws NotCompilable {
        Expression.Call call = call(operator, ValueTypes.BOOL.oid(), collationOid, sides);
        ComparisonKind kind = call.function().comparison();
        return kind != null
                ? new Expression.Operation.Compares(kind)
                : new Expression.Operation.Applies(call.function(), call.site());
    }

    /// `scalar operator ANY (array)` or `ALL`.
    ///
    /// @param sides the scalar, then an expression of an array type
    Expression quantified(Operator operator, int collationOid, Expression.Quantifier quantifier, List<Expression> sides)
            throws NotCompilable {
        Expression scalar = sides.getFirst();
        Expression array = sides.getLast();
        ValueType<?> element = ValueTypes.element(array.type());
        if (element == null) {
            throw new NotCompilable("ANY or ALL of something that is no array");
        }
        // Stands for each element: only its type matters.
        Expression any = new Expression.Constant(element, null);
        Expression.Call call = call(operator, ValueTypes.BOOL.oid(), collationOid, List.of(scalar, any));
        if (call.function().nulls() != BuiltIn.Nulls.STRICT) {
            throw new NotCompilable("ANY or ALL with an operator that is called on NULL");
        }
        ComparisonKind kind = call.function().comparison();
        Expression.Operation operation = kind != null
                ? new Expression.Operation.Compares(kind)
                : new Expression.Operation.Applies(call.function(), call.site());
        return new Expression.Quantified(operation, quantifier, scalar, elements(array));
    }

    private static Expression.Elements elements(Expression array) {
        return switch (array) {
            case Expression.Constant constant when constant.type() instanceof ArrayType -> Answers.elements(constant);
            case Expression.ArrayOf(var elements, var type) -> new Expression.Elements.Listed(elements);
            case Expression other -> new Expression.Elements.Computed(other);
        };
    }

    /// `(a, b) < (x, y)`.
    ///
    /// @param kind `RowCompareType`, from 1: `< <= = >= > <>`
    Expression rows(
            int kind, List<Integer> operators, List<Integer> collations, List<Expression> left, List<Expression> right)
            throws NotCompilable {
        ComparisonKind compared = switch (kind) {
            case 1 -> ComparisonKind.LESS;
            case 2 -> ComparisonKind.LESS_OR_EQUAL;
            case 4 -> ComparisonKind.GREATER_OR_EQUAL;
            case 5 -> ComparisonKind.GREATER;
            default -> throw new NotCompilable("a comparison of rows is not known");
        };
        if (left.size() != right.size() || operators.size() != left.size() || collations.size() != left.size()) {
            throw new NotCompilable("a comparison of rows of different lengths");
        }
        for (int i = 0; i < left.size(); i++) {
            Operator operator = catalog.operator(operators.get(i));
            List<Expression> pair = List.of(left.get(i), right.get(i));
            boolean ordered = operator != null
                    && operation(operator, collations.get(i), pair) instanceof Expression.Operation.Compares(var each)
                    && each != ComparisonKind.EQUAL
                    && each != ComparisonKind.NOT_EQUAL;
            if (!ordered) {
                throw new NotCompilable("a comparison of rows uses an order that is not known");
            }
        }
        return new Expression.RowComparison(compared, left, right);
    }

    /// GREATEST and LEAST name no operator: they use the type's default order.
    void requireOrder(ValueType<?> type, int collationOid) throws NotCompilable {
        if (type.collatable() && !BuiltIns.collation(catalog, collationOid).allows(BuiltIn.CollationUse.ORDER)) {
            throw new NotCompilable(Collations.obstacle(catalog, collationOid, BuiltIn.CollationUse.ORDER));
        }
        if (!type.isOrdered()) {
            throw new NotCompilable("values of type " + type + " are not put in order here");
        }
    }

    private Expression.Call call(Operator operator, int resultOid, int collationOid, List<Expression> arguments)
            throws NotCompilable {
        try {
            return BuiltIns.call(catalog, operator.functionOid(), resultOid, collationOid, arguments);
        } catch (NotCompilable obstacle) {
            throw BuiltIns.of(catalog, operator.functionOid()) == null
                    ? new NotCompilable("operator \"" + operator.name() + "\" on " + types(arguments))
                    : obstacle;
        }
    }

    private static String types(List<Expression> arguments) {
        List<String> names = new ArrayList<>();
        for (Expression argument : arguments) {
            names.add(argument.type().toString());
        }
        return String.join(" and ", names);
    }

    /// The operator of that name for two types, as `pg_operator` lists it; null when there is none of the server.
    static @Nullable Operator named(CatalogImage catalog, String name, ValueType<?> left, ValueType<?> right) {
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            if (operator.schema().equals("pg_catalog")
                    && operator.name().equals(name)
                    && operator.leftType() == left.oid()
                    && operator.rightType() == right.oid()) {
                return operator;
            }
        }
        return null;
    }
}
