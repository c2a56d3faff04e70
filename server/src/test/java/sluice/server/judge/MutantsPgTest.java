package sluice.server.judge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/// The judges judged: each of the faults in `mutants.txt`, put into a copy of the code, must be noticed by one of
/// them.
///
/// Runs with `-Pmutants`; `-Dsluice.mutant=regex` takes only those whose name it finds. Prints which judge
/// caught which.
class MutantsPgTest {
    @Test
    void every_patch_fits_the_code() {
        Path root = Path.of(System.getProperty("sluice.root", ".."));
        List<Mutant> mutants = mutants();
        assertThat(mutants).hasSizeGreaterThanOrEqualTo(40);
        for (Mutant mutant : mutants) {
            assertThat(mutant.patched(root)).as(mutant.name()).isNotEmpty();
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "sluice.mutants", matches = "true")
    void nearly_every_fault_is_noticed(@TempDir Path folder) throws Exception {
        Path root = Path.of(System.getProperty("sluice.root", ".."));
        List<String> missed = new ArrayList<>();
        int judged = 0;
        for (Mutant mutant : mutants()) {
            if (!Pattern.compile(System.getProperty("sluice.mutant", ""))
                    .matcher(mutant.name())
                    .find()) {
                continue;
            }
            judged++;
            String caught;
            try (URLClassLoader world = mutant.load(root, folder.resolve("m" + judged))) {
                Object trial = world.loadClass(MutantTrial.class.getName())
                        .getDeclaredConstructor()
                        .newInstance();
                caught = verdict((Callable<?>) trial);
            }
            if (caught.isEmpty()) {
                missed.add(mutant.name());
            }
            String first = caught.lines().findFirst().orElse("");
            System.out.println("MUTANT | " + mutant.name() + " | "
                    + (caught.isEmpty() ? "NOT CAUGHT" : first.substring(0, Math.min(80, first.length()))));
        }
        System.out.println(judged + " faults, " + missed.size() + " not noticed: " + missed);
        assertThat(missed.size()).as("not noticed: " + missed).isLessThanOrEqualTo(judged / 20);
    }

    /// A fault that makes the code fail outright is noticed too.
    private static String verdict(Callable<?> trial) throws Exception {
        try {
            return String.valueOf(trial.call());
        } catch (RuntimeException | LinkageError | AssertionError failed) {
            return "fails: " + failed;
        }
    }

    private static List<Mutant> mutants() {
        try (InputStream text = MutantsPgTest.class.getResourceAsStream("mutants.txt")) {
            return Mutant.read(new String(Objects.requireNonNull(text).readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
