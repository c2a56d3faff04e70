package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/// The judges judged: each of the faults in `testkit/mutants/mutants.txt`, put into a copy of the code, must be
/// noticed by one of them.
///
/// Runs with `-Pmutants`; `-Dsluice.mutant=regex` takes only those whose name it finds. Prints which judge caught
/// which as it goes, and leaves the table in `target/mutants.md`. Ends by itself: a fault has {@link #ONE} and all
/// together {@link #ALL}; what is not judged by then is not noticed.
class MutantsPgTest {
    private static final Duration ONE = Duration.ofMinutes(4);
    private static final Duration ALL = Duration.ofMinutes(Integer.getInteger("sluice.mutants.minutes", 45));

    @Test
    void every_patch_fits_the_code() {
        List<Mutant> mutants = mutants();
        assertThat(mutants).hasSizeGreaterThanOrEqualTo(40);
        for (Mutant mutant : mutants) {
            assertThat(mutant.patched(root())).as(mutant.name()).isNotEmpty();
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "sluice.mutants", matches = "true")
    void nearly_every_fault_is_noticed(@TempDir Path folder) throws Exception {
        Pattern wanted = Pattern.compile(System.getProperty("sluice.mutant", ""));
        List<Mutant> chosen =
                mutants().stream().filter(m -> wanted.matcher(m.name()).find()).toList();
        List<String> missed = new ArrayList<>();
        StringBuilder table = new StringBuilder("| fault | noticed by |\n|---|---|\n");
        long start = System.nanoTime();
        for (Mutant mutant : chosen) {
            long began = System.nanoTime();
            Duration left = ALL.minusNanos(began - start);
            String caught = left.isNegative() ? "" : judged(mutant, folder, left.compareTo(ONE) < 0 ? left : ONE);
            String first = caught.lines().findFirst().orElse("");
            String said = first.isEmpty() ? "NOT CAUGHT" : first.substring(0, Math.min(80, first.length()));
            System.out.println(
                    "MUTANT | " + seconds(began) + " of " + seconds(start) + " s | " + mutant.name() + " | " + said);
            table.append("| ")
                    .append(mutant.name())
                    .append(" | ")
                    .append(judge(first))
                    .append(" |\n");
            if (caught.isEmpty()) {
                missed.add(mutant.name());
            }
        }
        Files.writeString(Files.createDirectories(Path.of("target")).resolve("mutants.md"), table);
        System.out.println(
                chosen.size() + " faults, " + missed.size() + " not noticed: " + missed + ", " + seconds(start) + " s");
        assertThat(missed.size()).as("not noticed: " + missed).isLessThanOrEqualTo(chosen.size() / 20);
    }

    private static long seconds(long since) {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - since);
    }

    /// The judge's name out of what it said.
    private static String judge(String said) {
        int colon = said.indexOf(':');
        return said.isEmpty() ? "**none**" : "`" + (colon < 0 ? said : said.substring(0, colon)) + "`";
    }

    /// What the first judge that noticed said, empty when none did. A fault that makes the code fail outright, or
    /// go round for ever, is noticed too.
    private static String judged(Mutant mutant, Path folder, Duration bound) throws Exception {
        try (URLClassLoader world = mutant.load(root(), Files.createTempDirectory(folder, "mutant"))) {
            Callable<?> trial = (Callable<?>) world.loadClass(MutantTrial.class.getName())
                    .getDeclaredConstructor()
                    .newInstance();
            FutureTask<String> task = new FutureTask<>(() -> String.valueOf(trial.call()));
            Thread.ofPlatform().daemon().name("mutant").start(task);
            return task.get(bound.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            return "fails: " + failed.getCause();
        } catch (TimeoutException _) {
            return "does not end: within " + bound.toSeconds() + " s";
        }
    }

    private static Path root() {
        return Path.of(System.getProperty("sluice.root", ".."));
    }

    private static List<Mutant> mutants() {
        try {
            return Mutant.read(Files.readString(root().resolve("testkit/mutants/mutants.txt")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
