package sluice.server.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Tier;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.diagnostics.Outlook;
import sluice.server.postgres.console.StatementResult;

/// A diagnosis for a person at a terminal: what is slow and what is wrong first.
final class LintText {
    private LintText() {}

    /// Ends with a newline.
    static String of(Diagnosis diagnosis) {
        StringBuilder text = new StringBuilder();
        if (!diagnosis.tables().isEmpty()) {
            text.append(TextTable.of(table(diagnosis.tables()))).append('\n');
        }
        for (Finding finding : diagnosis.findings()) {
            finding(text, finding);
        }
        return text.append(summary(diagnosis)).append('\n').toString();
    }

    private static StatementResult table(List<Outlook> tables) {
        List<Outlook> sorted = new ArrayList<>(tables);
        sorted.sort(Comparator.comparing(
                Outlook::tier,
                Comparator.nullsLast(Comparator.<Tier>naturalOrder().reversed())));
        List<List<@Nullable String>> rows = new ArrayList<>();
        for (Outlook outlook : sorted) {
            rows.add(row(outlook.table(), outlook.role(), outlook.tier(), outlook.reason()));
            for (Outlook.OfPolicy policy : outlook.policies()) {
                rows.add(row(
                        "  " + policy.name(),
                        "",
                        policy.forecast().tier(),
                        policy.forecast().reason()));
            }
        }
        return new StatementResult("", List.of("table, policy", "role", "tier", "reason"), rows);
    }

    private static List<@Nullable String> row(String name, String role, @Nullable Tier tier, String reason) {
        List<@Nullable String> row = new ArrayList<>();
        row.add(name);
        row.add(role);
        row.add(tier == null ? "-" : tier.name());
        row.add(reason);
        return row;
    }

    private static void finding(StringBuilder text, Finding finding) {
        text.append(finding.severity().name()).append("  ").append(finding.code());
        if (finding.relation() != null) {
            text.append("  ").append(TextTable.printable(finding.relation()));
        }
        if (finding.policy() != null) {
            text.append("  policy \"")
                    .append(TextTable.printable(finding.policy()))
                    .append('"');
        }
        text.append('\n');
        line(text, "why", finding.reason());
        line(text, "so", finding.impact());
        line(text, "run", finding.remedy());
        text.append('\n');
    }

    private static void line(StringBuilder text, String title, String value) {
        text.append("  ").append(title).append(" ".repeat(4 - title.length())).append(TextTable.printable(value));
        text.append('\n');
    }

    private static String summary(Diagnosis diagnosis) {
        long tables = diagnosis.tables().stream().map(Outlook::table).distinct().count();
        long high = count(diagnosis, Finding.Severity.HIGH);
        long medium = count(diagnosis, Finding.Severity.MEDIUM);
        return tables
                + (tables == 1 ? " table: " : " tables: ")
                + (high + medium == 0 ? "nothing found" : high + " of severity high, " + medium + " medium");
    }

    private static long count(Diagnosis diagnosis, Finding.Severity severity) {
        return diagnosis.findings().stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }
}
