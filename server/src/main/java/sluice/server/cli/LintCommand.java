package sluice.server.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.server.app.Lint;
import sluice.server.app.ReportJson;
import sluice.server.app.StartException;
import sluice.server.config.Settings;
import sluice.server.config.SetupSettings;
import sluice.server.logging.LogFormat;
import sluice.server.logging.LogLevel;
import sluice.server.logging.LogSetup;
import sluice.server.postgres.PostgresUrl;

@Command(
        name = "lint",
        description = {
            "Says of every published table and role how its rows would be decided, and what should be changed.",
            "It reads the catalog as the pool's role and changes nothing. What is not given comes from SLUICE_ variables"
                    + " and their defaults."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Tiers: A nothing of a row is read, B columns of the row are read in process, C one query for each change.",
            "They are those of a shape without a filter, before a caller is known; claims and eq terms only help.",
            "",
            "Examples:",
            "  sluice lint --database-url postgres://sluice_authz:...@db:5432/app",
            "  SLUICE_DB_AUTHZ_URL=... sluice lint --publication live --role anon --role authenticated --json",
            "",
            "Exit status: 0 nothing of severity high, 1 something, 2 wrong usage or could not run."
        })
final class LintCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description = "Where to look, as the pool's role (default: SLUICE_DB_AUTHZ_URL).")
    private @Nullable String url;

    @Option(
            names = "--publication",
            paramLabel = "NAME",
            description = "Which publication (default: SLUICE_PUBLICATION or sluice).")
    private @Nullable String publication;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            description = "A role tokens may name; may be repeated (default: SLUICE_ALLOWED_ROLES or anon,"
                    + " authenticated, service_role).")
    private List<String> roles = List.of();

    @Option(names = "--json", description = "Print one line of JSON and nothing else.")
    private boolean json;

    @Override
    public Integer call() throws StartException {
        checkUrl();
        Settings settings = SetupSettings.forLookingAt(url);
        LogSetup.apply(LogFormat.TEXT, LogLevel.ERROR, System.err);
        Diagnosis diagnosis = Lint.of(settings, publication, roles);
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? ReportJson.of(diagnosis) + "\n" : LintText.of(diagnosis));
        out.flush();
        boolean high = diagnosis.findings().stream().anyMatch(finding -> finding.severity() == Finding.Severity.HIGH);
        return high ? Failures.FAILED : 0;
    }

    private void checkUrl() {
        if (url == null) {
            return;
        }
        try {
            PostgresUrl.parse(url);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--database-url: " + e.getMessage(), e);
        }
    }
}
