package sluice.core.expression;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.Tuple;

/// Puts PostgreSQL's answers in the place of the folds and simplifies what became constant.
///
/// Simplifying follows the executor: an argument right of a deciding constant is not reached and goes; one left of it
/// is evaluated first, so it stays wherever it might raise or cannot be decided here.
public final class Answers {
    private static final RowImage NO_ROW = new RowImage(
            new Tuple(new byte[0], new Tuple.Kind[0], new int[0], new int[0]), ColumnMapping.none(), Instant.EPOCH);

    private static final String INTERNAL_ERROR = "XX000";

    private final List<FoldAnswer> answers;
    private final Map<Integer, String> pinned;
    private final @Nullable Instant at;

    /// @param answers one for each fold, in order
    /// @param pinned the text of columns that have one value in every row of the shape, by attnum
    public Answers(List<FoldAnswer> answers, Map<Integer, String> pinned) {
        this(answers, pinned, null);
    }

    private Answers(List<FoldAnswer> answers, Map<Integer, String> pinned, @Nullable Instant at) {
        this.answers = List.copyOf(answers);
        this.pinned = pinned;
        this.at = at;
    }

    /// What is left of an expression without open folds when the clock stands still at a time.
    public static Expression at(Expression expression, Instant time) {
        return new Answers(List.of(), Collections.emptyMap(), time).substitute(expression);
    }

    /// The SQLSTATE with which PostgreSQL fails the whole query before it reads a row, null when it does not.
    public @Nullable String raisedForEveryRow(Expression expression) {
        for (Expression.Folded folded : Parts.folds(expression)) {
            if (folded.timing() != FoldTiming.WHEN_REACHED
                    && answers.get(folded.index()) instanceof FoldAnswer.Raised(var sqlState)) {
                return sqlState;
            }
        }
        for (Expression part : Parts.rowFreeThatMayRaise(expression)) {
            if (substitute(part) instanceof Expression.Raised(var type, var sqlState)) {
                return sqlState;
            }
        }
        return null;
    }

    /// The expression with every fold answered.
    public Expression substitute(Expression expression) {
        return switch (expression) {
            case Expression.Constant constant -> constant;
            case Expression.ColumnValue column -> column(column);
            case Expression.Raised raised -> raised;
            case Expression.Unsupported unsupported -> unsupported;
            case Expression.Clock clock -> clock(clock);
            case Expression.Folded folded -> answer(folded);
            case Expression.And(var arguments) -> connective(arguments, Expression.Constant.FALSE);
            case Expression.Or(var arguments) -> connective(arguments, Expression.Constant.TRUE);
            case Expression.Quantified quantified -> quantified(quantified);
            case Expression.Not not -> parts(not);
            case Expression.NullTest test -> parts(test);
            case Expression.TruthTest test -> parts(test);
            case Expression.Comparison comparison -> parts(comparison);
            case Expression.RowComparison comparison -> parts(comparison);
            case Expression.Distinct distinct -> parts(distinct);
            case Expression.Call call -> parts(call);
            case Expression.Recast recast -> parts(recast);
            case Expression.TextCast cast -> parts(cast);
            case Expression.Case choice -> parts(choice);
            case Expression.Coalesce coalesce -> parts(coalesce);
            case Expression.NullIf nullIf -> parts(nullIf);
            case Expression.Extreme extreme -> parts(extreme);
            case Expression.ArrayOf array -> parts(array);
            case Expression.Element element -> parts(element);
        };
    }

    private Expression clock(Expression.Clock clock) {
        return at == null ? clock : constant(clock.type(), ClockText.of(clock.type(), at));
    }

    private Expression parts(Expression expression) {
        List<Expression> answered = new ArrayList<>();
        for (Expression part : expression.parts()) {
            answered.add(substitute(part));
        }
        return settled(expression.withParts(answered));
    }

    /// A value of PostgreSQL's text as a constant, spelled as the server prints it.
    ///
    /// @throws IllegalArgumentException when the text is not a value of the type
    static Expression.Constant constant(ValueType<?> type, @Nullable String text) {
        if (text == null) {
            return new Expression.Constant(type, null);
        }
        try {
            Object value = type.parse(text);
            if (type.equals(ValueTypes.BOOL)) {
                return (Boolean) value ? Expression.Constant.TRUE : Expression.Constant.FALSE;
            }
            return new Expression.Constant(type, type.text(value));
        } catch (EvaluationException notValue) {
            throw new IllegalArgumentException("not a value of type " + type);
        }
    }

    private Expression column(Expression.ColumnValue column) {
        String text = pinned.get(column.attnum());
        return text == null ? column : constant(column.type(), text);
    }

    private Expression answer(Expression.Folded folded) {
        return switch (answers.get(folded.index())) {
            case FoldAnswer.Value(var text) -> answered(folded.type(), text);
            case FoldAnswer.Raised(var sqlState) -> new Expression.Raised(folded.type(), sqlState);
        };
    }

    /// An answer that is not of the type it should have is worth no more than an error.
    private static Expression answered(ValueType<?> type, @Nullable String text) {
        try {
            return constant(type, text);
        } catch (IllegalArgumentException otherType) {
            return new Expression.Raised(type, INTERNAL_ERROR);
        }
    }

    /// @param decider what ends the evaluation: FALSE of an AND, TRUE of an OR
    private Expression connective(List<Expression> arguments, Expression.Constant decider) {
        boolean and = decider.isFalse();
        Expression.Constant neutral = and ? Expression.Constant.TRUE : Expression.Constant.FALSE;
        List<Expression> kept = new ArrayList<>();
        List<Expression> looked = new ArrayList<>();
        boolean decided = false;
        boolean mayDiffer = false;
        for (Expression argument : arguments) {
            Expression answered = substitute(argument);
            if (decided) {
                if (Parts.mayFailPlanning(answered)) {
                    looked.add(answered);
                }
            } else if (answered.equals(decider)) {
                decided = true;
            } else if (!answered.equals(neutral)) {
                kept.add(answered);
                mayDiffer |= Parts.mayRaise(answered);
            }
        }
        if (!looked.isEmpty()) {
            // PostgreSQL looks at them though they are never reached.
            kept.add(decider);
            kept.addAll(looked);
            return and ? new Expression.And(kept) : new Expression.Or(kept);
        }
        if (decided && !mayDiffer) {
            return decider;
        }
        if (decided) {
            kept.add(decider);
        }
        if (kept.isEmpty()) {
            return neutral;
        }
        if (kept.size() == 1) {
            return kept.getFirst();
        }
        return settled(and ? new Expression.And(kept) : new Expression.Or(kept));
    }

    private Expression quantified(Expression.Quantified quantified) {
        List<Expression> answered = new ArrayList<>();
        for (Expression part : quantified.parts()) {
            Expression substituted = substitute(part);
            // Both sides are evaluated before anything is compared.
            if (substituted instanceof Expression.Raised(var type, var sqlState)) {
                return new Expression.Raised(ValueTypes.BOOL, sqlState);
            }
            answered.add(substituted);
        }
        Expression.Quantified changed = (Expression.Quantified) quantified.withParts(answered);
        return settled(
                changed.elements() instanceof Expression.Elements.Computed(Expression.Constant array)
                        ? new Expression.Quantified(
                                changed.operation(), changed.quantifier(), changed.scalar(), elements(array))
                        : changed);
    }

    /// The elements of a constant array, each a constant of its own.
    static Expression.Elements elements(Expression.Constant array) {
        if (array.text() == null) {
            return new Expression.Elements.NullArray();
        }
        ArrayType type = (ArrayType) array.type();
        List<Expression> values = new ArrayList<>();
        for (Object element : type.parse(array.text()).elements()) {
            values.add(new Expression.Constant(
                    type.element(), element == null ? null : type.element().text(element)));
        }
        return new Expression.Elements.Listed(values);
    }

    /// A part that reads neither a column nor the clock and has no surprises is its value.
    static Expression settled(Expression expression) {
        if (Parts.hasNoValue(expression)
                || Parts.readsClock(expression)
                || !Parts.columns(expression).isEmpty()) {
            return expression;
        }
        try {
            Object value = ScalarCompiler.compile(expression).evaluate(NO_ROW);
            return new Expression.Constant(
                    expression.type(), value == null ? null : expression.type().text(value));
        } catch (UndecidableException _) {
            return expression;
        } catch (EvaluationException raised) {
            return new Expression.Raised(expression.type(), raised.sqlState());
        }
    }
}
