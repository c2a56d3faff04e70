package sluice.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import sluice.server.postgres.console.StatementResult;

class CommandLineTest {
    private record Outcome(int status, String out, String err) {}

    static Stream<String> commands() {
        return Main.commandLine().getSubcommands().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void every_command_explains_itself_with_an_example(String command) {
        Outcome help = run(command, "--help");
        assertThat(help.status()).isZero();
        assertThat(help.out()).contains("Example").contains("sluice " + command);
        assertThat(help.err()).isEmpty();
    }

    @Test
    void the_version_names_the_jdk() {
        assertThat(run("version").out()).contains("sluice ").contains("JDK " + Runtime.version());
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void wrong_usage_is_a_line_and_a_pointer_to_the_help(List<String> arguments) {
        Outcome wrong = run(arguments.toArray(String[]::new));
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err().lines()).hasSize(2).last().asString().contains("--help");
        assertThat(wrong.out()).isEmpty();
    }

    static Stream<List<String>> wrong() {
        return Stream.of(
                List.of(),
                List.of("stream"),
                List.of("demo", "--port", "70000"),
                List.of("demo", "--port", "many"),
                List.of("demo", "--postgres-version", "14"),
                List.of("sql", "select 1"),
                List.of("token", "--expires", "10x"),
                List.of("lint", "--database-url", "mysql://me:s3cr3t@host/db"));
    }

    @Test
    void without_a_demo_sql_and_token_say_how_to_start_one(@TempDir Path nothing) {
        for (List<String> command : List.of(List.of("sql", "--as", "alice", "select 1"), List.of("token"))) {
            List<String> arguments = Stream.concat(command.stream(), Stream.of("--data", nothing.toString()))
                    .toList();
            Outcome refused = run(arguments.toArray(String[]::new));
            assertThat(refused.status()).isEqualTo(2);
            assertThat(refused.err().lines()).singleElement().asString().contains("./sluice demo");
        }
    }

    @Test
    void a_server_that_does_not_answer_is_not_healthy() {
        for (String command : List.of("healthcheck", "readycheck")) {
            Outcome probe = run(command, "--url", "http://127.0.0.1:1");
            assertThat(probe.status()).isEqualTo(1);
            assertThat(probe.err().lines()).singleElement().asString().contains("does not answer");
        }
    }

    @Test
    void a_look_at_no_database_names_the_variable_and_a_wrong_url_is_not_repeated() {
        Outcome missing = run("lint");
        assertThat(missing.status()).isEqualTo(2);
        assertThat(missing.err()).contains("SLUICE_DB_AUTHZ_URL").doesNotContain("SLUICE_JWKS_URL");
        Outcome wrong = run("lint", "--database-url", "mysql://me:s3cr3t@host/db");
        assertThat(wrong.err()).contains("--database-url: ").doesNotContain("s3cr3t");
    }

    @Test
    void rows_are_shown_in_columns_and_cannot_move_the_cursor() {
        StatementResult result = new StatementResult(
                "SELECT 2", List.of("id", "title"), List.of(List.of("1", "a"), List.of("22", "b\u001b[2Jc\nd")));
        assertThat(TextTable.of(result)).isEqualTo(" id | title\n----+----------\n 1  | a\n 22 | b [2Jc d\n(2 rows)\n");
        assertThat(TextTable.of(new StatementResult("INSERT 0 1", List.of(), List.of())))
                .isEqualTo("INSERT 0 1\n");
    }

    private static Outcome run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = Main.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        int status = command.execute(arguments);
        return new Outcome(status, out.toString(), err.toString());
    }
}
