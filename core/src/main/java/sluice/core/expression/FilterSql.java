package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Operator;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;

/// A filter as the condition of a query, which answers as its compiled predicate does.
///
/// Every name is quoted and qualified, so no search path changes the meaning; every value is a parameter.
///
/// @param condition for a `WHERE` over the one table, with a `?` for each parameter and none elsewhere but inside
///     quotes
/// @param parameters the values, in order, as PostgreSQL spelled them
public record FilterSql(String condition, List<String> parameters) {
    public FilterSql {
        parameters = List.copyOf(parameters);
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "FilterSql[" + condition + "]";
    }

    /// @throws RequestException as {@link FilterCompiler#check}
    public static FilterSql of(CatalogImage catalog, FilterTree<FilterTerm> filter) {
        List<String> parameters = new ArrayList<>();
        return new FilterSql(condition(catalog, filter, parameters), parameters);
    }

    private static String condition(CatalogImage catalog, FilterTree<FilterTerm> filter, List<String> parameters) {
        return switch (filter) {
            case FilterTree.Leaf<FilterTerm>(var term) ->
                negated(condition(catalog, term, parameters), term.negation());
            case FilterTree.Group<FilterTerm>(var connective, var negation, var members) -> {
                List<String> written = new ArrayList<>(members.size());
                for (FilterTree<FilterTerm> member : members) {
                    written.add(condition(catalog, member, parameters));
                }
                String joined = written.isEmpty()
                        ? Boolean.toString(connective == FilterTree.Connective.AND)
                        : String.join(" " + connective.name() + " ", written);
                yield negated("(" + joined + ")", negation);
            }
        };
    }

    private static String negated(String condition, FilterTerm.Negation negation) {
        return switch (negation) {
            case PLAIN -> condition;
            case NEGATED -> "(NOT " + condition + ")";
        };
    }

    private static String condition(CatalogImage catalog, FilterTerm term, List<String> parameters) {
        String column = quoted(term.column().name());
        if (term.operator().operands() == FilterTerm.Operator.Operands.NONE) {
            return "(" + column + " " + term.operator().symbol() + ")";
        }
        FilterOperators.Meaning meaning = FilterOperators.of(catalog, term.column(), term.operator());
        String typed;
        try {
            typed = "?::" + SqlTypes.name(catalog, meaning.literalType().oid());
        } catch (NotCompilable obstacle) {
            throw new RequestException(ErrorCode.INVALID_FILTER, obstacle.reason());
        }
        parameters.addAll(term.constants());
        String left = column + " " + operator(meaning.operator()) + " ";
        if (term.operator().operands() == FilterTerm.Operator.Operands.ONE) {
            return "(" + left + typed + ")";
        }
        List<String> each = new ArrayList<>(term.constants().size());
        for (int i = 0; i < term.constants().size(); i++) {
            each.add("(" + left + typed + ")");
        }
        return meaning.literalType() instanceof sluice.core.value.PgType.Array
                // a list of arrays would be one array of more dimensions
                ? "(" + String.join(" OR ", each) + ")"
                : "(" + left + "ANY (ARRAY[" + String.join(", ", java.util.Collections.nCopies(each.size(), typed))
                        + "]))";
    }

    private static String operator(Operator operator) {
        return "OPERATOR(" + quoted(operator.schema()) + "." + operator.name() + ")";
    }

    private static String quoted(String identifier) {
        return "\"" + identifier.replace("\"", "\"\"") + "\"";
    }
}
