package sluice.core.diagnostics;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Forecast;
import sluice.core.authorization.Tier;

/// What a role may expect of a table, before any caller is known.
///
/// @param table `schema.table`
/// @param tier of a shape without a filter; null when the role is refused
/// @param policies those that decide, by name; none where row-level security does not apply
public record Outlook(String table, String role, @Nullable Tier tier, String reason, List<OfPolicy> policies) {
    public Outlook {
        policies = List.copyOf(policies);
    }

    /// One policy by itself.
    public record OfPolicy(String name, Forecast forecast) {}
}
