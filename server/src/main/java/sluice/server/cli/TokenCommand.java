package sluice.server.cli;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import sluice.server.demo.DemoException;
import sluice.server.demo.DemoTools;

@Command(
        name = "token",
        description = "Signs a token with the demo's key. No other server accepts it.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sluice token --sub alice",
            "  sluice token --sub 7c9e6679-7425-40de-944b-e07fc1f90ae7 --expires 10m",
            "  sluice token --role service_role"
        })
final class TokenCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--sub",
            paramLabel = "WHO",
            description = "alice, bob, carol or a user id; without it the token has no sub.")
    private @Nullable String subject;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "authenticated",
            description = "Database role (default: ${DEFAULT-VALUE}).")
    private String role = "";

    @Option(
            names = "--expires",
            paramLabel = "TIME",
            defaultValue = "1h",
            converter = Validity.class,
            description = "How long it is valid: a number and s, m or h (default: ${DEFAULT-VALUE}).")
    private Duration expires = Duration.ZERO;

    @Mixin
    private DataOption data = new DataOption();

    @Override
    public Integer call() throws DemoException {
        spec.commandLine().getOut().println(DemoTools.token(data.folder(), subject, role, expires));
        return 0;
    }

    /// Reads `90s`, `10m`, `24h`.
    static final class Validity implements ITypeConverter<Duration> {
        private static final Pattern FORM = Pattern.compile("([0-9]{1,6})([smh])");

        @Override
        public Duration convert(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw new TypeConversionException("write a number and s, m or h, such as 10m");
            }
            long number = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ofHours(number);
            };
        }
    }
}
