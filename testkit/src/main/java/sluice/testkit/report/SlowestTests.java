package sluice.testkit.report;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import sluice.testkit.rules.Repository;

/// Prints the ten slowest test classes of all modules that this build has tested, after the integration tests.
///
/// Each test process leaves its times in `target/slow-tests` at the root, under the build's own mark; the last one to
/// end knows all. JUnit finds this class by itself. Silent outside of Maven.
public final class SlowestTests implements TestExecutionListener {
    private static final int SHOWN = 10;

    private record Timed(String name, long millis) {}

    private final Map<String, Long> startedNanos = new ConcurrentHashMap<>();
    private final Map<String, Duration> took = new ConcurrentHashMap<>();

    @Override
    public void executionStarted(TestIdentifier test) {
        if (isClass(test)) {
            startedNanos.put(test.getUniqueId(), System.nanoTime());
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Long started = startedNanos.remove(test.getUniqueId());
        if (started != null && test.getSource().orElse(null) instanceof ClassSource source) {
            took.merge(source.getClassName(), Duration.ofNanos(System.nanoTime() - started), Duration::plus);
        }
    }

    /// Processes that share a module's tests run a plan for each class: whichever ends the last integration test
    /// prints.
    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        String module = System.getProperty("sluice.module");
        if (module == null || took.isEmpty()) {
            return;
        }
        try {
            Path folder =
                    Files.createDirectories(Repository.root().resolve("target").resolve("slow-tests"));
            String build = System.getProperty("sluice.build", "");
            List<String> lines = new ArrayList<>();
            lines.add(build);
            took.forEach((name, duration) -> lines.add(duration.toMillis() + "\t" + name));
            String fork = System.getProperty("sluice.fork", "");
            String run = System.getProperty("sluice.run", "test");
            Path mine = folder.resolve(module + "-" + run + fork + ".tsv");
            Path draft = Files.write(mine.resolveSibling(mine.getFileName() + ".draft"), lines);
            Files.move(draft, mine, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            Map<String, Long> millisByName = known(folder, build);
            List<String> last = integrationTests();
            if (!last.isEmpty() && millisByName.keySet().containsAll(last)) {
                print(millisByName);
            }
        } catch (IOException e) {
            System.out.println("the slowest tests are not known: " + e);
        }
    }

    private static boolean isClass(TestIdentifier test) {
        return test.getSource().orElse(null) instanceof ClassSource
                && test.getParentIdObject()
                        .map(id -> id.getSegments().size() == 1)
                        .orElse(false);
    }

    /// Of the module that is being tested.
    private static List<String> integrationTests() throws IOException {
        Path classes = Path.of("target", "test-classes");
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> classes.relativize(file).toString().replace(File.separatorChar, '.'))
                    .filter(name -> name.endsWith("IT.class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .toList();
        }
    }

    private static Map<String, Long> known(Path folder, String build) throws IOException {
        Map<String, Long> millisByName = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(SlowestTests::isComplete).toList()) {
                List<String> lines = Files.readAllLines(file);
                if (lines.isEmpty() || !lines.getFirst().equals(build)) {
                    continue; // of an earlier build
                }
                for (String line : lines.subList(1, lines.size())) {
                    String[] parts = line.split("\t", 2);
                    millisByName.put(parts[1], Long.valueOf(parts[0]));
                }
            }
        }
        return millisByName;
    }

    private static boolean isComplete(Path file) {
        return file.toString().endsWith(".tsv");
    }

    private static void print(Map<String, Long> millisByName) {
        StringBuilder text = new StringBuilder("slowest test classes so far:\n");
        List<Timed> slowest = millisByName.entrySet().stream()
                .map(entry -> new Timed(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingLong(Timed::millis).reversed())
                .limit(SHOWN)
                .toList();
        for (Timed test : slowest) {
            text.append(String.format(Locale.ROOT, "  %8.1f s  %s%n", test.millis() / 1000.0, test.name()));
        }
        System.out.print(text);
    }
}
