package sluice.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import sluice.server.app.SluiceServer;
import sluice.server.app.StartException;
import sluice.server.app.StopSignal;
import sluice.server.config.Settings;
import sluice.server.config.SettingsReader;
import sluice.server.http.ExtraRoutes;
import sluice.server.logging.LogFormat;
import sluice.server.logging.LogLevel;
import sluice.server.logging.LogSetup;

@Command(
        name = "serve",
        description = {
            "Runs the server against a database of yours, until SIGTERM or Ctrl-C.",
            "Everything is set by SLUICE_ environment variables; deploy/sluice.env.example lists them."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:",
            "  SLUICE_DB_REPL_URL='postgres://sluice_repl:...@db:5432/app?replication=database' \\",
            "  SLUICE_DB_AUTHZ_URL='postgres://sluice_authz:...@db:5432/app' \\",
            "  SLUICE_JWKS_URL='https://auth.example.com/.well-known/jwks.json' sluice serve",
            "",
            "sluice setup prints the SQL that prepares the database."
        })
final class ServeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws StartException {
        Settings settings = SettingsReader.ofProcess();
        LogSetup.apply(format(settings.log().format()), level(settings.log().level()), System.err);
        SluiceServer server = SluiceServer.start(settings, ExtraRoutes.NONE);
        StopSignal.install(server::close);
        // Told to stop, the process ends from the signal; only a server that cannot go on comes back here.
        String reason = server.ended().join();
        spec.commandLine().getErr().println("sluice: stopped: " + reason);
        return Failures.FAILED;
    }

    private static LogFormat format(Settings.Log.Format format) {
        return switch (format) {
            case JSON -> LogFormat.JSON;
            case TEXT -> LogFormat.TEXT;
        };
    }

    private static LogLevel level(Settings.Log.Level level) {
        return switch (level) {
            case DEBUG -> LogLevel.DEBUG;
            case INFO -> LogLevel.INFO;
            case WARN -> LogLevel.WARN;
            case ERROR -> LogLevel.ERROR;
        };
    }
}
