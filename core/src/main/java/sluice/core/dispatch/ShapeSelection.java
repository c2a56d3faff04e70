package sluice.core.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which shapes an operator means: those of a table whose filter fixes every one of these columns to that constant.
///
/// @param equalities at least one; a column twice has to have both constants
/// @param subject only streams of this `sub`, null for any
/// @param role only streams of this role, null for any
public record ShapeSelection(
        String schema,
        String table,
        List<Equality> equalities,
        @Nullable String subject,
        @Nullable String role) {
    public ShapeSelection {
        equalities = List.copyOf(equalities);
        if (equalities.isEmpty()) {
            throw new IllegalArgumentException("a selection without an equality would mean every shape");
        }
    }

    /// @param constant as PostgreSQL spells the filter's own
    public record Equality(String column, String constant) {}
}
