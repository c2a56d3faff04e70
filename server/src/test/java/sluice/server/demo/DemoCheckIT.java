package sluice.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The demo that uses and judges itself, as a process.
class DemoCheckIT {
    @TempDir
    private Path scratch = Path.of("");

    @Test
    void the_check_passes_and_leaves_nothing() throws Exception {
        try (DemoProcess check = DemoProcess.start(scratch, "demo", "--check")) {
            int status = check.exitStatus();
            assertThat(status).as(check.output() + check.errors()).isZero();
            assertThat(check.output())
                    .contains("posts in tier B from a request of its own")
                    .contains("both streams go on under new tokens")
                    .contains("the notes are read again")
                    .contains("begins with the", "is cut, and resumes")
                    .contains("\"paid\" of the database, the note \"order 2\", \"hello\" of alice")
                    .contains("carol  heard the note \"after\", and may not speak")
                    .contains("saw nobody, alice on the laptop, alice on the phone, alice on the laptop, alice gone")
                    .contains("ends with session_revoked")
                    .contains("largest delay from commit to receipt")
                    .contains("passed");
            assertThat(check.handle().descendants()).isEmpty();
        }
        try (Stream<Path> left = Files.list(scratch.resolve("tmp"))) {
            assertThat(left.filter(path -> path.getFileName().toString().startsWith("sluice")))
                    .isEmpty();
        }
    }
}
