package sluice.core.shape;

import java.util.List;
import java.util.TreeSet;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.expression.FilterTree;

/// The one way a filter is written: what {@link FilterParser} reads back as the same filter.
///
/// Quotes stand where they must and nowhere else, no blanks stand around anything. Conditions keep the client's
/// order, which decides between equally good routing columns; the values of a list have none, so they are sorted
/// and each stands once.
final class FilterText {
    private final StringBuilder text = new StringBuilder();

    private FilterText() {}

    static String of(FilterTree<ParsedTerm> filter) {
        FilterText writer = new FilterText();
        if (filter instanceof FilterTree.Group<ParsedTerm>(var connective, var negation, var members)
                && connective == FilterTree.Connective.AND
                && negation == Negation.PLAIN) {
            writer.members(members);
        } else {
            writer.member(filter);
        }
        return writer.text.toString();
    }

    private void members(List<FilterTree<ParsedTerm>> members) {
        for (int i = 0; i < members.size(); i++) {
            if (i > 0) {
                text.append(',');
            }
            member(members.get(i));
        }
    }

    private void member(FilterTree<ParsedTerm> member) {
        switch (member) {
            case FilterTree.Leaf<ParsedTerm>(var term) -> term(term);
            case FilterTree.Group<ParsedTerm>(var connective, var negation, var members) -> {
                negation(negation);
                text.append(
                        switch (connective) {
                            case AND -> "and(";
                            case OR -> "or(";
                        });
                members(members);
                text.append(')');
            }
        }
    }

    private void term(ParsedTerm term) {
        quoted(term.column(), FilterParser.plainColumn(term.column()));
        text.append('=');
        negation(term.negation());
        text.append(term.operator().spelling());
        switch (term.operator().operands()) {
            case NONE -> {}
            case ONE -> {
                text.append('.');
                value(term.values().getFirst());
            }
            case SEVERAL -> list(term);
        }
    }

    private void list(ParsedTerm term) {
        text.append(".(");
        String separator = "";
        for (String value : new TreeSet<>(term.values())) {
            text.append(separator);
            value(value);
            separator = ",";
        }
        text.append(')');
    }

    private void negation(Negation negation) {
        if (negation == Negation.NEGATED) {
            text.append("not.");
        }
    }

    private void value(String value) {
        quoted(value, FilterParser.plainValue(value));
    }

    private void quoted(String value, boolean plain) {
        if (plain) {
            text.append(value);
            return;
        }
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char next = value.charAt(i);
            if (next == '"' || next == '\\') {
                text.append('\\');
            }
            text.append(next);
        }
        text.append('"');
    }

    /// A condition whose list is in the order it is written in, so that equal filters are equal.
    static ParsedTerm canonical(ParsedTerm term) {
        return term.operator().operands() == Operator.Operands.SEVERAL
                ? new ParsedTerm(
                        term.column(), term.operator(), List.copyOf(new TreeSet<>(term.values())), term.negation())
                : term;
    }
}
