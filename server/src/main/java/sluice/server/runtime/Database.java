package sluice.server.runtime;

import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Input;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;

/// The engine's questions to PostgreSQL. Called on virtual threads; each call waits for its answer, within its own
/// timeout, and throws when there is none.
public interface Database {
    CatalogImage load(CatalogScope scope);

    /// A text that differs whenever rights differ which the log does not tell of.
    Input.RightsAnswer pollRights();

    List<FoldAnswer> fold(Identity caller, List<Fold> folds);

    ProbeOutcome probe(Effect.Probe probe);

    /// Has the log move though nobody commits.
    void moveLog();
}
