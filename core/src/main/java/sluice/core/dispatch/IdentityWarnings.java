package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.Relation;
import sluice.core.diagnostics.Finding;
import sluice.core.error.WarningCode;
import sluice.core.event.StreamEvent;

/// What a subscriber is told of its table's replica identity, whatever it asked for. Names no column but in the SQL.
final class IdentityWarnings {
    private IdentityWarnings() {}

    /// @param findings about the table's identity
    static List<StreamEvent.Warning> of(String label, Relation relation, List<Finding> findings) {
        List<StreamEvent.Warning> warnings = new ArrayList<>(0);
        String table = "table \"" + relation.qualifiedName() + "\"";
        for (Finding finding : findings) {
            if (finding.code().equals(Finding.Code.REPLICA_IDENTITY_FULL_WITH_TOAST.wireName())) {
                warnings.addFirst(new StreamEvent.Warning(
                        label,
                        WarningCode.REPLICA_IDENTITY_FULL_WITH_TOAST,
                        table + " has the replica identity FULL and long values",
                        finding.impact(),
                        finding.remedy()));
            } else if (finding.code().equals(Finding.Code.REPLICA_IDENTITY_BROKEN.wireName())) {
                warnings.add(new StreamEvent.Warning(
                        label,
                        WarningCode.REPLICA_IDENTITY_BROKEN,
                        table + " has no replica identity that works",
                        finding.impact(),
                        finding.remedy()));
            }
        }
        return warnings;
    }
}
