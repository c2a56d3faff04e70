package sluice.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import sluice.server.config.Settings;
import sluice.server.config.SetupSettings;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.SetupSql;

@Command(
        name = "setup",
        description = {
            "Prints the SQL that prepares a database: roles, grants and the publication, for the settings in the"
                    + " environment.",
            "It connects to nothing and changes nothing."
        },
        mixinStandardHelpOptions = true,
        footer = {"", "Example:", "  SLUICE_PUBLICATION=live sluice setup | psql app"})
final class SetupCommand implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        Settings settings = SetupSettings.ofProcess();
        SetupSql.Plan plan = new SetupSql.Plan(
                user(settings.database().replication(), "sluice_repl"),
                user(settings.database().pool(), "sluice_authz"),
                settings.tokens().allowedRoles(),
                settings.replication().publication(),
                settings.replication().slot().text());
        spec.commandLine().getOut().print(SetupSql.text(plan));
        spec.commandLine().getOut().flush();
    }

    private static String user(PostgresUrl url, String otherwise) {
        String user = url.user();
        return user == null ? otherwise : user;
    }
}
