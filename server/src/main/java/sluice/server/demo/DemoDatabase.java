package sluice.server.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;
import sluice.server.postgres.console.StatementResult;

/// The demo's tables and everything the demo does with them. Each call opens a connection of its own and closes it.
final class DemoDatabase {
    private static final Actor OWNER = new Actor.Owner();

    /// The page shows this many rows and no more.
    private static final String ROWS = """
        SELECT coalesce(jsonb_agg(to_jsonb(note) ORDER BY note.id), '[]'::jsonb)::text
        FROM (SELECT * FROM public.notes ORDER BY id DESC LIMIT 100) AS note
        """;

    /// The policies as the database has them now, whoever made them.
    private static final String POLICIES = """
        SELECT format(
          E'CREATE POLICY %I ON %I.%I\\n  AS %s FOR %s TO %s\\n  USING %s;',
          policyname, schemaname, tablename, permissive, cmd, array_to_string(roles, ', '),
          CASE WHEN qual LIKE '(%' THEN qual ELSE '(' || qual || ')' END)
        FROM pg_catalog.pg_policies
        WHERE schemaname = 'public' AND tablename = 'notes' AND cmd IN ('SELECT', 'ALL')
        ORDER BY permissive, policyname
        """;

    private static final String POLICY_NAMES = """
        SELECT policyname FROM pg_catalog.pg_policies
        WHERE schemaname = 'public' AND tablename = 'notes' AND cmd IN ('SELECT', 'ALL')
        """;

    private final Console.Target target;

    DemoDatabase(Console.Target target) {
        this.target = target;
    }

    /// A connection as the owner, for the caller to close.
    Console connect() throws StatementException {
        return Console.connect(target);
    }

    /// Makes what is missing, and gives the server's two roles new passwords.
    void prepare(String replicationPassword, String authorizationPassword) throws DemoException {
        try (Console console = Console.connect(target)) {
            StatementResult found =
                    console.run(OWNER, "SELECT to_regclass('public.notes')").getFirst();
            if (found.rows().getFirst().getFirst() == null) {
                console.script(resource("schema.sql"));
            }
            console.script(resource("sessions.sql"));
            console.script("ALTER ROLE sluice_repl PASSWORD '" + replicationPassword
                    + "'; ALTER ROLE sluice_authz PASSWORD '" + authorizationPassword + "'");
        } catch (StatementException e) {
            throw new DemoException("the demo's tables could not be made: " + e.getMessage(), "");
        }
    }

    private static String resource(String name) {
        try (InputStream sql = DemoDatabase.class.getResourceAsStream(name)) {
            if (sql == null) {
                throw new IllegalStateException(name + " is not in the jar");
            }
            return new String(sql.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The newest notes the caller may read, as a JSON array, oldest first.
    String rows(Actor caller) throws StatementException {
        try (Console console = Console.connect(target)) {
            return first(console.run(caller, ROWS, List.of()), "[]");
        }
    }

    /// Runs one statement as the caller.
    StatementResult run(Actor caller, String sql, List<String> parameters) throws StatementException {
        try (Console console = Console.connect(target)) {
            return console.run(caller, sql, parameters);
        }
    }

    void switchTo(ReadPolicy policy) throws StatementException {
        try (Console console = Console.connect(target)) {
            console.script(policy.sql());
        }
    }

    /// The statements that would make the rules for reading notes.
    String policySql() throws StatementException {
        try (Console console = Console.connect(target)) {
            return String.join(
                    "\n\n",
                    console.run(OWNER, POLICIES).getFirst().rows().stream()
                            .map(row -> String.valueOf(row.getFirst()))
                            .toList());
        }
    }

    /// Which of the demo's own rules is in force, null when somebody made another.
    @Nullable
    ReadPolicy policy() throws StatementException {
        try (Console console = Console.connect(target)) {
            List<String> names = console.run(OWNER, POLICY_NAMES).getFirst().rows().stream()
                    .map(row -> String.valueOf(row.getFirst()))
                    .sorted()
                    .toList();
            return switch (String.join(",", names)) {
                case "notes_read_own" -> ReadPolicy.OWNER_ONLY;
                case "notes_read_everyone" -> ReadPolicy.EVERYONE;
                case "notes_read_own,notes_read_undone" -> ReadPolicy.OWNER_ONLY_UNDONE;
                default -> null;
            };
        }
    }

    private static String first(StatementResult result, String absent) {
        String value = result.rows().isEmpty() ? null : result.rows().getFirst().getFirst();
        return value == null ? absent : value;
    }
}
