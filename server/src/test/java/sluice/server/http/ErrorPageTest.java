package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.error.WarningCode;

class ErrorPageTest {
    private static List<String[]> rows(int cells) throws IOException {
        Path page = Path.of(System.getProperty("sluice.root")).resolve("docs/errors.md");
        return Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("| `"))
                .map(line -> Arrays.stream(line.substring(1).split("\\|"))
                        .map(cell -> cell.strip().replace("`", ""))
                        .toArray(String[]::new))
                .filter(row -> row.length == cells)
                .toList();
    }

    @Test
    void the_page_lists_every_error_with_its_status_and_whether_to_retry() throws IOException {
        assertThat(rows(5).stream().map(row -> row[0] + " " + row[1] + " " + row[2]))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ErrorCode.values())
                        .map(code ->
                                code.wireName() + " " + code.httpStatus() + " " + (code.retryable() ? "yes" : "no"))
                        .toList());
    }

    @Test
    void the_page_lists_every_warning() throws IOException {
        assertThat(rows(3).stream().map(row -> row[0]))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(WarningCode.values())
                        .map(WarningCode::wireName)
                        .toList());
    }
}
