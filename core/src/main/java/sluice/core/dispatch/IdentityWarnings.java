package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.Relation;
import sluice.core.diagnostics.Finding;
import sluice.core.diagnostics.IdentityRemedy;
import sluice.core.error.WarningCode;
import sluice.core.event.StreamEvent;

/// What a subscriber is told of its table's replica identity.
final class IdentityWarnings {
    private static final String WITHHELD = "deletes, and rows that leave the shape, are withheld";

    private IdentityWarnings() {}

    /// @param missing columns that old rows would have to carry
    static StreamEvent.Warning insufficient(String label, Relation relation, List<String> missing) {
        return new StreamEvent.Warning(
                label,
                WarningCode.REPLICA_IDENTITY_INSUFFICIENT,
                "the replica identity of \"" + relation.qualifiedName() + "\" lacks " + String.join(", ", missing),
                WITHHELD,
                IdentityRemedy.sql(relation, missing));
    }

    /// @param missing columns of the key that old rows lack
    static StreamEvent.Warning unnamed(String label, Relation relation, List<String> missing) {
        return new StreamEvent.Warning(
                label,
                WarningCode.REPLICA_IDENTITY_INSUFFICIENT,
                "the replica identity of \"" + relation.qualifiedName() + "\" lacks " + String.join(", ", missing)
                        + " of the key",
                "a delete, a row that leaves the shape and a change of the key do not say which row it was",
                IdentityRemedy.sqlForKey(relation));
    }

    /// The warning where deletes that cannot be decided are not withheld.
    static StreamEvent.Warning ofDegradedDeletes(StreamEvent.Warning warning) {
        return !WITHHELD.equals(warning.effect())
                ? warning
                : new StreamEvent.Warning(
                        warning.sub(),
                        warning.code(),
                        warning.message(),
                        "deletes come with their key only, whether or not the row was in the shape; rows that leave"
                                + " it are withheld",
                        warning.remedy());
    }

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
