package sluice.server.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sluice.server.demo.DemoException;
import sluice.server.demo.DemoTools;
import sluice.server.postgres.console.StatementException;
import sluice.server.postgres.console.StatementResult;

@Command(
        name = "sql",
        description = {
            "Runs SQL in the running demo's database, as one of its people or as the owner.",
            "A person's statements are one transaction under SET LOCAL ROLE with that person's claims."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sluice sql --as alice \"insert into notes (title) values ('hello')\"",
            "  sluice sql --as bob \"select id, title from notes\"",
            "  sluice sql --as owner \"drop policy notes_read_own on notes\"",
            "",
            "Exit status: 0 done, 1 PostgreSQL refused, 2 wrong usage or no demo runs."
        })
final class SqlCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--as",
            paramLabel = "WHO",
            required = true,
            description = "alice, bob, carol, anon, service_role or owner.")
    private String who = "";

    @Parameters(paramLabel = "SQL", description = "One statement, or several separated by semicolons.")
    private String sql = "";

    @Mixin
    private DataOption data = new DataOption();

    @Override
    public Integer call() throws DemoException, StatementException {
        List<StatementResult> results = DemoTools.sql(data.folder(), who, sql);
        PrintWriter out = spec.commandLine().getOut();
        for (StatementResult result : results) {
            out.print(TextTable.of(result));
        }
        out.flush();
        return 0;
    }
}
