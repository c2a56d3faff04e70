package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Operator;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// Turns a shape's filter into a predicate, through the same evaluator and the same rules as policies.
///
/// A condition stands for an operator of PostgreSQL, looked up in the catalog, and is decided by whatever decides
/// that operator in a policy. One that nothing decides is refused by name, never passed over.
public final class FilterCompiler {
    private FilterCompiler() {}

    /// @throws RequestException as {@link #check}
    public static Predicate compile(CatalogImage catalog, FilterTree<FilterTerm> filter) {
        return Compiler.compile(expression(catalog, filter));
    }

    /// Whether a condition on the column can be decided, and so may be asked about.
    ///
    /// @throws RequestException `INVALID_FILTER` when PostgreSQL has no such operator for the
    /// column's type, or it is
    ///     not evaluated in process
    public static void check(CatalogImage catalog, Column column, FilterTerm.Operator operator) {
        try {
            switch (operator) {
                case IS_NULL, IS_TRUE, IS_FALSE, IS_UNKNOWN -> test(catalog, column, operator);
                case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, LIKE, ILIKE, IN -> {
                    FilterOperators.Meaning meaning = FilterOperators.of(catalog, column, operator);
                    String _ = SqlTypes.name(catalog, meaning.literalType().oid());
                    Expression _ = applied(catalog, column, meaning, null);
                }
            }
        } catch (NotCompilable obstacle) {
            throw refused(catalog, column, operator, obstacle);
        }
    }

    /// What PostgreSQL is asked so that it types and spells a client's literal as the log would.
    ///
    /// @param text as the client wrote it; without a NUL, which no PostgreSQL text can hold
    /// @throws RequestException as {@link #check}
    public static Fold literal(CatalogImage catalog, Column column, FilterTerm.Operator operator, String text) {
        try {
            FilterOperators.Meaning meaning = FilterOperators.of(catalog, column, operator);
            String typed = FoldWriter.literal(text) + "::"
                    + SqlTypes.name(catalog, meaning.literalType().oid());
            // The type's output function, which is what the log is written with; a cast to text differs for some.
            return new Fold("pg_catalog.format('%s', " + typed + ")", ValueTypes.TEXT.oid());
        } catch (NotCompilable obstacle) {
            throw refused(catalog, column, operator, obstacle);
        }
    }

    /// Whether PostgreSQL reads a text as the same value of the type for ever: its input asks no clock, no setting
    /// and no table.
    public static boolean readsAlike(CatalogImage catalog, Column column) {
        return switch (catalog.type(column.typeOid()).undomained().oid()) {
            case Oid.BOOL, Oid.INT2, Oid.INT4, Oid.INT8, Oid.OID, Oid.NUMERIC, Oid.FLOAT4, Oid.FLOAT8 -> true;
            case Oid.TEXT, Oid.VARCHAR, Oid.BPCHAR, Oid.NAME, Oid.UUID, Oid.BYTEA -> true;
            default -> false;
        };
    }

    /// @throws RequestException as {@link #check}
    static Expression expression(CatalogImage catalog, FilterTree<FilterTerm> filter) {
        return switch (filter) {
            case FilterTree.Leaf<FilterTerm>(var term) -> expression(catalog, term);
            case FilterTree.Group<FilterTerm>(var connective, var negation, var members) -> {
                List<Expression> all = new ArrayList<>(members.size());
                for (FilterTree<FilterTerm> member : members) {
                    all.add(expression(catalog, member));
                }
                yield negated(
                        switch (connective) {
                            case AND -> new Expression.And(all);
                            case OR -> new Expression.Or(all);
                        },
                        negation);
            }
        };
    }

    private static Expression expression(CatalogImage catalog, FilterTerm term) {
        Column column = term.column();
        try {
            Expression plain = switch (term.operator()) {
                case IS_NULL, IS_TRUE, IS_FALSE, IS_UNKNOWN -> test(catalog, column, term.operator());
                case IN -> {
                    FilterOperators.Meaning meaning = FilterOperators.of(catalog, column, term.operator());
                    List<Expression> any = new ArrayList<>(term.constants().size());
                    for (String constant : term.constants()) {
                        any.add(applied(catalog, column, meaning, constant));
                    }
                    // what `= ANY` over a list means, element by element
                    yield any.size() == 1 ? any.getFirst() : new Expression.Or(any);
                }
                case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, LIKE, ILIKE ->
                    applied(
                            catalog,
                            column,
                            FilterOperators.of(catalog, column, term.operator()),
                            term.constants().getFirst());
            };
            return negated(plain, term.negation());
        } catch (NotCompilable obstacle) {
            throw refused(catalog, column, term.operator(), obstacle);
        }
    }

    private static Expression negated(Expression plain, FilterTerm.Negation negation) {
        return switch (negation) {
            case PLAIN -> plain;
            case NEGATED -> new Expression.Not(plain);
        };
    }

    /// The operator on the column and one constant, decided as in a policy.
    ///
    /// @param constant null stands for one not known yet
    private static Expression applied(
            CatalogImage catalog, Column column, FilterOperators.Meaning meaning, @Nullable String constant)
            throws NotCompilable {
        ValueType<?> type = ValueTypes.of(catalog.type(column.typeOid()));
        ValueType<?> literal = ValueTypes.of(meaning.literalType());
        if (type == null || literal == null) {
            throw new NotCompilable("not decided in process");
        }
        Operator operator = meaning.operator();
        Expression left = new Expression.ColumnValue(column.attnum(), passedAs(operator.leftType(), type));
        Expression right = constant(passedAs(operator.rightType(), literal), constant);
        return new Operators(catalog)
                .apply(operator, ValueTypes.BOOL.oid(), column.collationOid(), List.of(left, right));
    }

    private static Expression constant(ValueType<?> type, @Nullable String text) throws NotCompilable {
        try {
            return Answers.constant(type, text);
        } catch (IllegalArgumentException _) {
            throw new NotCompilable("a value of type " + type + " beyond what is read here");
        }
    }

    /// The type an operator reads a value as: the declared one where that has the same form, as
    /// text has of varchar.
    private static ValueType<?> passedAs(int declared, ValueType<?> type) {
        ValueType<?> known = ValueTypes.ofOid(declared);
        return known != null && known.hasFormOf(type) ? known : type;
    }

    /// A test for NULL or truth, which no operator stands behind.
    private static Expression test(CatalogImage catalog, Column column, FilterTerm.Operator operator)
            throws NotCompilable {
        PgType type = catalog.type(column.typeOid()).undomained();
        ValueType<?> known = ValueTypes.of(type);
        // Whether a value is NULL shows without reading it; only of a row is it a question about its fields.
        Expression value = new Expression.ColumnValue(column.attnum(), known == null ? ValueTypes.TEXT : known);
        return switch (operator) {
            case IS_NULL -> {
                if (type instanceof PgType.Composite) {
                    throw new NotCompilable("a row of values");
                }
                yield new Expression.NullTest(value, Expression.NullSense.IS_NULL);
            }
            case IS_TRUE -> truthTest(column, value, operator, Expression.TruthSense.IS_TRUE);
            case IS_FALSE -> truthTest(column, value, operator, Expression.TruthSense.IS_FALSE);
            case IS_UNKNOWN -> truthTest(column, value, operator, Expression.TruthSense.IS_UNKNOWN);
            case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, LIKE, ILIKE, IN ->
                throw new IllegalArgumentException("an operator and no test");
        };
    }

    private static Expression truthTest(
            Column column, Expression value, FilterTerm.Operator operator, Expression.TruthSense sense) {
        if (!value.type().equals(ValueTypes.BOOL)) {
            throw new RequestException(
                    ErrorCode.INVALID_FILTER,
                    "\"" + operator.spelling() + "\" takes a boolean, which column \"" + column.name() + "\" is not");
        }
        return new Expression.TruthTest(value, sense);
    }

    private static RequestException refused(
            CatalogImage catalog, Column column, FilterTerm.Operator operator, NotCompilable obstacle) {
        return new RequestException(
                ErrorCode.INVALID_FILTER,
                "\"" + operator.spelling() + "\" on type \""
                        + catalog.type(column.typeOid()).name() + "\" of column \"" + column.name()
                        + "\" is not supported yet: " + obstacle.reason());
    }
}
