package sluice.server.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.testkit.rules.Repository;

/// The pages name tests as proof: each is there.
class DocumentedTestsTest {
    /// `Class.method`, a class alone, or a method alone, which is of the class named last before it.
    private static final Pattern NAMED = Pattern.compile(
            "`(?:([A-Z]\\w*[a-z](?:Test|IT))(?:\\.(\\w+))?|([a-z]\\w*_\\w+_\\w+_\\w+_\\w+))(\\.\\.\\.)?`");

    @Test
    void every_test_that_a_page_names_is_there() throws IOException {
        Map<String, String> sources = testSources();
        List<String> missing = new ArrayList<>();
        for (Path page : pages()) {
            for (String line : Files.readAllLines(page)) {
                Matcher named = NAMED.matcher(line);
                @Nullable String source = null;
                while (named.find()) {
                    if (named.group(1) != null) {
                        source = sources.get(named.group(1));
                    }
                    String method = named.group(1) == null ? named.group(3) : named.group(2);
                    boolean isTest = named.group(1) != null || source != null;
                    if (isTest && !holds(source, method, named.group(4) != null)) {
                        missing.add(page.getFileName() + ": " + named.group());
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(sources).containsKey("DocumentedTestsTest");
    }

    private static boolean holds(@Nullable String source, @Nullable String method, boolean begins) {
        return source != null && (method == null || source.contains("void " + method + (begins ? "" : "(")));
    }

    private static Map<String, String> testSources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (String module : List.of("testkit", "core", "server", "bench")) {
            Path root = Repository.root().resolve(module).resolve("src/test/java");
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        return sources;
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(Repository.root().resolve("README.md")));
        try (Stream<Path> files = Files.walk(Repository.root().resolve("docs"))) {
            files.filter(path -> path.toString().endsWith(".md")).forEach(pages::add);
        }
        return pages;
    }
}
