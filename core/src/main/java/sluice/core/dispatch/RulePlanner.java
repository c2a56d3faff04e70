package sluice.core.dispatch;

import java.util.List;
import sluice.core.authorization.RulePlan;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.expression.FilterTerm;

/// Composes the rule of a table for a role: the oracle the engine asks.
@FunctionalInterface
public interface RulePlanner {
    /// @param terms conditions that hold for every row of the shape: its equalities are constants to the rule
    RulePlan plan(CatalogImage catalog, Relation relation, Role role, List<FilterTerm> terms);
}
