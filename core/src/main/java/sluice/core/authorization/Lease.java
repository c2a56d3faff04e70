package sluice.core.authorization;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.Answers;
import sluice.core.expression.ClockTurns;
import sluice.core.expression.Expression;

/// The parts of a rule that read the clock and no column: at some time they may hide every row from the caller.
/// Immutable.
public final class Lease {
    private final Expression rule;
    private final List<Instant> turns;

    private Lease(Expression rule, List<Instant> turns) {
        this.rule = rule;
        this.turns = List.copyOf(turns);
    }

    /// @param rule without open folds and unsupported parts
    /// @return null when the clock is read together with columns of the row only, or not at all
    public static @Nullable Lease of(Expression rule) {
        return ClockTurns.readsClockAlone(rule) ? new Lease(rule, ClockTurns.of(rule)) : null;
    }

    /// Whether a row may be visible at this time, as far as can be said without one.
    public boolean holdsAt(Instant now) {
        Expression then = Answers.at(rule, now);
        boolean hidden = then instanceof Expression.Raised
                || (then instanceof Expression.Constant constant && !constant.isTrue());
        return !hidden;
    }

    /// The first time after this one at which the answer may be another, null when none is known.
    public @Nullable Instant turnAfter(Instant now) {
        for (Instant turn : turns) {
            if (turn.isAfter(now)) {
                return turn;
            }
        }
        return null;
    }
}
