package sluice.core.expression;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// When conditions that read the clock and no column may change their answer: at the times they name.
public final class ClockTurns {
    private static final Instant EPOCH = Instant.parse("2000-01-01T00:00:00Z");
    private static final Duration TICK = Duration.ofNanos(1_000);

    private ClockTurns() {}

    /// Whether a condition in it reads the clock and no column.
    public static boolean readsClockAlone(Expression expression) {
        if (isAlone(expression)) {
            return true;
        }
        for (Expression part : expression.parts()) {
            if (readsClockAlone(part)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAlone(Expression expression) {
        return expression.type().equals(ValueTypes.BOOL)
                && Parts.readsClock(expression)
                && Parts.columns(expression).isEmpty();
    }

    /// The times that such conditions name, and the moments just after them, ascending. Conditions that count from
    /// the clock, as `now() - interval '1 day' > ...` does, turn at other times as well.
    public static List<Instant> of(Expression expression) {
        List<Instant> turns = new ArrayList<>();
        collect(expression, turns);
        turns.sort(null);
        return turns;
    }

    private static void collect(Expression expression, List<Instant> turns) {
        if (isAlone(expression)) {
            constants(expression, turns);
            return;
        }
        for (Expression part : expression.parts()) {
            collect(part, turns);
        }
    }

    private static void constants(Expression expression, List<Instant> turns) {
        if (expression instanceof Expression.Constant(var type, var text) && text != null) {
            named(type, type.parse(text), turns);
        }
        for (Expression part : expression.parts()) {
            constants(part, turns);
        }
    }

    private static void named(ValueType<?> type, Object value, List<Instant> turns) {
        if (type.equals(TimeTypes.DATE)) {
            long days = TimeTypes.DATE.cast(value);
            if (TimeTypes.isTimestampDate(days)) {
                turns.add(EPOCH.plus(Duration.ofDays(days)));
                turns.add(EPOCH.plus(Duration.ofDays(days + 1)));
            }
        } else if (type.equals(TimeTypes.TIMESTAMP) || type.equals(TimeTypes.TIMESTAMPTZ)) {
            long micros = TimeTypes.TIMESTAMPTZ.cast(value);
            if (TimeTypes.isFinite(micros)) {
                Instant at = EPOCH.plusSeconds(Math.floorDiv(micros, 1_000_000L))
                        .plusNanos(Math.floorMod(micros, 1_000_000L) * 1_000);
                turns.add(at);
                turns.add(at.plus(TICK));
            }
        }
    }
}
