package sluice.server.logging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Whoever runs the server finds each line of its log on one page.
class LogPageTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.root"));

    /// What is logged directly, and the engine's notices; the text may be in several pieces.
    private static final Pattern MESSAGE =
            Pattern.compile("(?:\\.log\\(|Level\\.(?:INFO|WARN|ERROR),)\\s*((?:\"[^\"]*\"\\s*\\+?\\s*)+)[,)]");

    private static final Pattern PIECE = Pattern.compile("\"([^\"]*)\"");

    @Test
    void the_page_has_every_line_that_is_not_for_debugging() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/operating.md")).replaceAll("\\s+", " ");
        List<String> messages = new ArrayList<>();
        for (String module : List.of("core", "server")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module + "/src/main/java"))) {
                for (Path file : files.filter(LogPageTest::isOfTheServer).toList()) {
                    collect(Files.readString(file), messages);
                }
            }
        }
        assertThat(messages)
                .hasSizeGreaterThan(30)
                .allSatisfy(message -> assertThat(page).contains(message));
    }

    /// Commands write for whoever started them.
    private static boolean isOfTheServer(Path file) {
        String path = file.toString().replace('\\', '/');
        return path.endsWith(".java") && !path.contains("/server/demo/") && !path.contains("/server/cli/");
    }

    private static void collect(String source, List<String> messages) {
        Matcher message = MESSAGE.matcher(source);
        while (message.find()) {
            int statement = Math.max(0, source.lastIndexOf(';', message.start()));
            if (!source.substring(statement, message.start()).contains("atDebug")) {
                StringBuilder text = new StringBuilder();
                Matcher piece = PIECE.matcher(message.group(1));
                while (piece.find()) {
                    text.append(piece.group(1));
                }
                // what follows is the page's to say in its own words
                messages.add(text.toString().split(";", 2)[0]);
            }
        }
    }
}
