package sluice.core.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.expression.Fold;
import sluice.core.session.Identity;
import sluice.core.wal.Lsn;

/// What the engine wants done outside. Carried out in order, never waited for; answers come back as inputs.
public sealed interface Effect {
    record LoadCatalog(long requestId, CatalogScope scope) implements Effect {}

    record PollRights() implements Effect {}

    /// Evaluate these under the caller's role and claims.
    record AskFolds(long questionId, Identity caller, List<Fold> folds) implements Effect {
        public AskFolds {
            folds = List.copyOf(folds);
        }
    }

    /// May the caller see this row?
    ///
    /// @param values one per column of the relation, in its order
    /// @param sql the predicate over the table's bare name
    record Probe(long probeId, Identity caller, Relation relation, List<ProbeValue> values, String sql)
            implements Effect {
        public Probe {
            values = List.copyOf(values);
        }
    }

    /// @param text null for SQL NULL
    record ProbeValue(String column, @Nullable String text) {}

    /// Everything up to here may be confirmed to PostgreSQL.
    record Confirm(Lsn lsn) implements Effect {}

    record Log(Notice notice) implements Effect {}
}
