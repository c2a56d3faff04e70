package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;

/// Turns a shape's filter into a predicate, through the same evaluator and the same rules as policies.
public final class FilterCompiler {
    private FilterCompiler() {}

    /// The AND of the terms, TRUE for none.
    ///
    /// @throws RequestException `INVALID_FILTER` when a column's type or collation is not compared in process
    public static Predicate compile(CatalogImage catalog, List<FilterTerm> terms) {
        List<Expression> all = new ArrayList<>();
        for (FilterTerm term : terms) {
            all.add(expression(catalog, term));
        }
        return Compiler.compile(new Expression.And(all));
    }

    /// The type a column's values are compared as.
    ///
    /// @throws RequestException `INVALID_FILTER` naming the type or the collation
    public static ValueType comparedAs(CatalogImage catalog, Column column) {
        ValueType type = ValueType.of(catalog.type(column.typeOid()));
        if (type == null) {
            throw new RequestException(
                    ErrorCode.INVALID_FILTER,
                    "filters on type \"" + catalog.type(column.typeOid()).name() + "\" are not supported yet (column \""
                            + column.name() + "\")");
        }
        if (type.collatable() && !bytewiseEqual(catalog, column.collationOid())) {
            throw new RequestException(
                    ErrorCode.INVALID_FILTER,
                    "filters under a nondeterministic collation are not supported yet (column \"" + column.name()
                            + "\")");
        }
        return type;
    }

    /// What PostgreSQL is asked so that it types and spells a client's literal: `'text'::type`.
    ///
    /// @param text as the client wrote it; without a NUL, which no PostgreSQL text can hold
    public static Fold literal(ValueType type, String text) {
        return new Fold(FoldWriter.literal(text) + "::pg_catalog." + type.typeName(), type.oid());
    }

    /// Whether two texts are equal under the collation exactly when their bytes are.
    static boolean bytewiseEqual(CatalogImage catalog, int collationOid) {
        Collation collation = catalog.collation(collationOid);
        return collation != null && collation.determinism() == Collation.Determinism.DETERMINISTIC;
    }

    private static Expression expression(CatalogImage catalog, FilterTerm term) {
        ValueType type = comparedAs(catalog, term.column());
        Expression column = new Expression.ColumnValue(term.column().attnum(), type);
        List<Expression> constants = new ArrayList<>();
        for (String text : term.constants()) {
            constants.add(Answers.constant(type, text));
        }
        Expression compared = switch (term.operator()) {
            case EQUAL -> new Expression.Comparison(ComparisonKind.EQUAL, column, constants.getFirst());
            case IN ->
                new Expression.Quantified(
                        ComparisonKind.EQUAL,
                        Expression.Quantifier.ANY,
                        column,
                        new Expression.Elements.Listed(constants));
        };
        return switch (term.negation()) {
            case PLAIN -> compared;
            case NEGATED -> new Expression.Not(compared);
        };
    }
}
