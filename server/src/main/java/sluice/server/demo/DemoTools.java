package sluice.server.demo;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.Actor;
import sluice.server.postgres.console.Console;
import sluice.server.postgres.console.StatementException;
import sluice.server.postgres.console.StatementResult;

/// What other commands do with a demo's folder: run SQL in its database, sign tokens with its key.
public final class DemoTools {
    private DemoTools() {}

    /// Runs statements in the running demo's database.
    ///
    /// @param who `alice`, `bob`, `carol`, `anon`, `service_role` or `owner`
    /// @throws DemoException when nobody is called that, or no demo runs from the folder
    /// @throws StatementException what PostgreSQL refused
    public static List<StatementResult> sql(Path data, String who, String sql)
            throws DemoException, StatementException {
        Actor actor = actor(who);
        DemoState state = DemoState.read(data);
        if (state == null || !isAlive(state)) {
            throw noDemo(data);
        }
        Console console;
        try {
            console = Console.connect(state.target());
        } catch (StatementException e) {
            throw new DemoException("the demo's PostgreSQL does not answer: " + e.getMessage(), "");
        }
        try (console) {
            return console.run(actor, sql);
        }
    }

    /// Signs a token that the demo's server accepts.
    ///
    /// @param subject a user id, or `alice`, `bob` or `carol`; null for a token without `sub`
    public static String token(Path data, @Nullable String subject, String role, Duration validity)
            throws DemoException {
        DemoKey key = DemoKey.load(data);
        if (key == null) {
            throw new DemoException("there is no signing key in " + data, "run ./sluice demo first");
        }
        Person person = subject == null ? null : Person.named(subject);
        return key.sign(person == null ? subject : person.id(), role, validity);
    }

    private static boolean isAlive(DemoState state) {
        return ProcessHandle.of(state.pid()).map(ProcessHandle::isAlive).orElse(false);
    }

    private static DemoException noDemo(Path data) {
        return new DemoException(
                "no demo runs from " + data, "start it with ./sluice demo, or name its folder with --data");
    }

    private static Actor actor(String who) throws DemoException {
        Person person = Person.named(who);
        if (person != null) {
            return new Actor.Caller(DemoTokens.USER_ROLE, DemoKey.claims(person.id(), DemoTokens.USER_ROLE));
        }
        return switch (who) {
            case "anon" -> new Actor.Caller("anon", DemoKey.claims(null, "anon"));
            case DemoTokens.SERVICE_ROLE ->
                new Actor.Caller(DemoTokens.SERVICE_ROLE, DemoKey.claims(null, DemoTokens.SERVICE_ROLE));
            case "owner" -> new Actor.Owner();
            default ->
                throw new DemoException(
                        "nobody is called \"" + who + "\"", "use alice, bob, carol, anon, service_role or owner");
        };
    }
}
