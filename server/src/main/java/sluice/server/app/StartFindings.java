package sluice.server.app;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.diagnostics.Finding;

/// What the start-up validation found, as reports show it.
final class StartFindings {
    /// The ones whose subject is a table.
    private static final List<String> OF_TABLES = List.of(
            "no_primary_key",
            "replica_identity",
            "session_lookup_rls",
            "session_lookup_grant",
            "ban_lookup_grant",
            "ban_lookup_rls",
            "revocation_table_kind",
            "revocation_not_published",
            "revocation_identity",
            "revocation_column",
            "revocation_id_type",
            "revocation_ban_type");

    private StartFindings() {}

    static Finding of(sluice.server.postgres.query.Finding found) {
        Finding.Severity severity = switch (found.severity()) {
            case REFUSAL -> Finding.Severity.HIGH;
            case WARNING -> Finding.Severity.MEDIUM;
        };
        @Nullable String table = OF_TABLES.contains(found.code()) ? found.subject() : null;
        String reason = table == null ? found.subject() + ": " + found.reason() : "it " + found.reason();
        return new Finding(found.code(), severity, table, null, reason, found.impact(), found.remedy());
    }
}
