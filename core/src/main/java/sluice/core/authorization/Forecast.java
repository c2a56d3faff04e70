package sluice.core.authorization;

import org.jspecify.annotations.Nullable;
import sluice.core.expression.Expression;
import sluice.core.expression.Parts;

/// The tier of a rule before a caller is known. What a caller's claims say, and what a filter pins, can only make it
/// a cheaper one or refuse it.
///
/// @param tier null when nobody is shown a row
/// @param reason one sentence: why this tier
public record Forecast(@Nullable Tier tier, String reason) {
    static Forecast of(RulePlan.Verdict verdict) {
        return switch (verdict) {
            case RulePlan.Verdict.Granted(var rule) -> new Forecast(rule.tier(), rule.reason());
            case RulePlan.Verdict.Refused(var code, var message) -> new Forecast(null, message);
        };
    }

    static Forecast of(Expression rule) {
        String obstacle = Parts.unsupported(rule);
        if (obstacle != null) {
            return new Forecast(Tier.C, obstacle);
        }
        return Parts.columns(rule).isEmpty()
                ? new Forecast(Tier.A, "no column of the row is read; what PostgreSQL says of the caller decides")
                : new Forecast(Tier.B, "columns of the row are evaluated in process");
    }
}
