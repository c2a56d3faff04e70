package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterCompiler;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTree;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.shape.Filter;
import sluice.core.shape.ParsedTerm;

/// A filter's literals on their way through PostgreSQL, which types and spells them once, when the subscription is
/// made.
final class FilterLiterals {
    private FilterLiterals() {}

    /// Refuses, before anybody is asked, what could not be decided.
    ///
    /// @throws RequestException `INVALID_FILTER`
    static void check(CatalogImage catalog, ShapeReader.Draft draft) {
        for (ShapeReader.Condition condition : draft.filter().terms()) {
            FilterCompiler.check(catalog, condition.column(), condition.term().operator());
        }
    }

    /// What is to be asked, a fold for each literal.
    static List<Fold> folds(CatalogImage catalog, ShapeReader.Draft draft) {
        List<Fold> folds = new ArrayList<>();
        for (ShapeReader.Condition condition : draft.filter().terms()) {
            ParsedTerm term = condition.term();
            for (String literal : term.literals()) {
                folds.add(FilterCompiler.literal(catalog, condition.column(), term.operator(), literal));
            }
        }
        return folds;
    }

    /// Whether the answers will be the same whenever they are asked for.
    static boolean readAlike(CatalogImage catalog, ShapeReader.Draft draft) {
        for (ShapeReader.Condition condition : draft.filter().terms()) {
            if (!FilterCompiler.readsAlike(catalog, condition.column())) {
                return false;
            }
        }
        return true;
    }

    /// @param answers to {@link #folds}, of which exactly this filter's are taken whatever comes of them
    /// @throws RequestException `INVALID_FILTER` when a literal is not of its column's type
    static Filter answered(CatalogImage catalog, ShapeReader.Draft draft, Iterator<FoldAnswer> answers) {
        List<RequestException> refusals = new ArrayList<>(0);
        FilterTree<List<String>> spelled = draft.filter().map(condition -> constants(condition, answers, refusals));
        if (!refusals.isEmpty()) {
            throw refusals.getFirst();
        }
        Iterator<List<String>> constants = spelled.terms().iterator();
        return Filter.of(catalog, draft.filter().map(condition -> term(catalog, condition, constants.next())));
    }

    private static List<String> constants(
            ShapeReader.Condition condition, Iterator<FoldAnswer> answers, List<RequestException> refusals) {
        List<String> constants = new ArrayList<>();
        for (String _ : condition.term().values()) {
            switch (answers.next()) {
                case FoldAnswer.Value(var text) when text != null -> constants.add(text);
                case FoldAnswer.Value _ -> refusals.add(notOfTheType(condition, "it is read as NULL"));
                case FoldAnswer.Raised(var sqlState) -> refusals.add(notOfTheType(condition, "SQLSTATE " + sqlState));
            }
        }
        return constants;
    }

    private static RequestException notOfTheType(ShapeReader.Condition condition, String why) {
        return new RequestException(
                ErrorCode.INVALID_FILTER,
                "a value for column \"" + condition.term().column() + "\" is not valid for its type (" + why + ")");
    }

    private static FilterTerm term(CatalogImage catalog, ShapeReader.Condition condition, List<String> constants) {
        ParsedTerm term = condition.term();
        Column column = condition.column();
        EqualTexts equality = EqualTexts.of(catalog.type(column.typeOid()));
        return new FilterTerm(column, term.operator(), constants, term.negation(), equality);
    }
}
