package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import sluice.core.diagnostics.Finding;

class FindingsPageTest {
    @Test
    void the_page_lists_every_finding_with_its_severity() throws IOException {
        Path page = Path.of(System.getProperty("sluice.root")).resolve("docs/diagnostics.md");
        assertThat(Files.readAllLines(page).stream()
                        .filter(line -> line.matches("\\| `[a-z_]+` \\| (high|medium) \\|.*"))
                        .map(line ->
                                line.split("\\|")[1].strip().replace("`", "") + " " + line.split("\\|")[2].strip()))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Finding.Code.values())
                        .map(code -> code.wireName() + " " + code.severity().wireName())
                        .toList());
    }
}
