package sluice.core.expression;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Truth;

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

    /// @param answers one for each fold, in order
    /// @param pinned the text of columns that have one value in every row of the shape, by attnum
    public Answers(List<FoldAnswer> answers, Map<Integer, String> pinned) {
        this.answers = List.copyOf(answers);
        this.pinned = pinned;
    }

    /// The SQLSTATE with which PostgreSQL fails the whole query before it reads a row, null when it does not.
    public @Nullable String raisedForEveryRow(Expression expression) {
        for (Expression.Folded folded : Parts.folds(expression)) {
            if (folded.timing() != FoldTiming.WHEN_REACHED
                    && answers.get(folded.index()) instanceof FoldAnswer.Raised(var sqlState)) {
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
            case Expression.Folded folded -> answer(folded);
            case Expression.And(var arguments) -> connective(arguments, Expression.Constant.FALSE);
            case Expression.Or(var arguments) -> connective(arguments, Expression.Constant.TRUE);
            case Expression.Not(var argument) -> settled(new Expression.Not(substitute(argument)));
            case Expression.NullTest(var argument, var sense) ->
                settled(new Expression.NullTest(substitute(argument), sense));
            case Expression.TruthTest(var argument, var sense) ->
                settled(new Expression.TruthTest(substitute(argument), sense));
            case Expression.Comparison(var kind, var left, var right) ->
                settled(new Expression.Comparison(kind, substitute(left), substitute(right)));
            case Expression.Distinct(var left, var right) ->
                settled(new Expression.Distinct(substitute(left), substitute(right)));
            case Expression.Quantified quantified -> quantified(quantified);
        };
    }

    /// A value of PostgreSQL's text as a constant.
    ///
    /// @throws IllegalArgumentException when the text is not a value of the type
    static Expression.Constant constant(ValueType type, @Nullable String text) {
        if (text == null) {
            return new Expression.Constant(type, null);
        }
        return switch (type) {
            case BOOL ->
                switch (text) {
                    case "t", "true" -> Expression.Constant.TRUE;
                    case "f", "false" -> Expression.Constant.FALSE;
                    default -> throw new IllegalArgumentException("not a boolean");
                };
            case INT2, INT4, INT8 -> integer(type, text);
            case TEXT, VARCHAR, UUID -> new Expression.Constant(type, text);
        };
    }

    private static Expression.Constant integer(ValueType type, String text) {
        try {
            Expression.Constant constant = new Expression.Constant(type, text);
            Constants.IntegerConstant checked = Constants.IntegerConstant.of(text);
            return Long.toString(checked.number()).equals(text)
                    ? constant
                    : new Expression.Constant(type, Long.toString(checked.number()));
        } catch (EvaluationException notNumber) {
            throw new IllegalArgumentException("not an integer");
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
    private static Expression answered(ValueType type, @Nullable String text) {
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
        boolean decided = false;
        boolean mayDiffer = false;
        for (Expression argument : arguments) {
            Expression answered = substitute(argument);
            if (answered.equals(decider)) {
                decided = true;
                break;
            }
            if (!answered.equals(neutral)) {
                kept.add(answered);
                mayDiffer |= Parts.mayRaise(answered);
            }
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
        Expression scalar = substitute(quantified.scalar());
        // Both sides are evaluated before anything is compared.
        if (scalar instanceof Expression.Raised(var type, var sqlState)) {
            return new Expression.Raised(ValueType.BOOL, sqlState);
        }
        return switch (quantified.elements()) {
            case Expression.Elements.NullArray nullArray -> compared(quantified, scalar, nullArray);
            case Expression.Elements.Listed(var values) -> {
                List<Expression> answered = new ArrayList<>();
                for (Expression value : values) {
                    answered.add(substitute(value));
                }
                yield compared(quantified, scalar, new Expression.Elements.Listed(answered));
            }
            case Expression.Elements.FoldedArray(var index, var elementType, var timing) ->
                switch (answers.get(index)) {
                    case FoldAnswer.Value(var text) -> compared(quantified, scalar, elementType, text);
                    case FoldAnswer.Raised(var sqlState) -> new Expression.Raised(ValueType.BOOL, sqlState);
                };
        };
    }

    private static Expression compared(
            Expression.Quantified quantified, Expression scalar, ValueType elementType, @Nullable String array) {
        try {
            return compared(quantified, scalar, ArrayText.elements(elementType, array));
        } catch (IllegalArgumentException otherType) {
            return new Expression.Raised(ValueType.BOOL, INTERNAL_ERROR);
        }
    }

    private static Expression compared(
            Expression.Quantified quantified, Expression scalar, Expression.Elements elements) {
        if (elements instanceof Expression.Elements.Listed(var values)) {
            for (Expression value : values) {
                if (value instanceof Expression.Raised(var type, var sqlState)) {
                    return new Expression.Raised(ValueType.BOOL, sqlState);
                }
            }
        }
        return settled(new Expression.Quantified(quantified.kind(), quantified.quantifier(), scalar, elements));
    }

    /// A part that reads no column and has no surprises is its value.
    private static Expression settled(Expression expression) {
        if (Parts.mayRaise(expression) || !Parts.columns(expression).isEmpty()) {
            return expression;
        }
        Truth truth = Compiler.compile(expression).test(NO_ROW);
        return switch (truth) {
            case TRUE -> Expression.Constant.TRUE;
            case FALSE -> Expression.Constant.FALSE;
            case NULL -> new Expression.Constant(ValueType.BOOL, null);
            case UNDECIDABLE -> throw new IllegalStateException("a part without columns is undecidable");
        };
    }
}
