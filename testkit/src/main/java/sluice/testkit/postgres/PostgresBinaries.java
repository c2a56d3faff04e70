package sluice.testkit.postgres;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;
import sluice.testkit.rules.Repository;

/// The unpacked programs of one PostgreSQL version: `bin/postgres` and `bin/initdb` with what they load.
///
/// The build copies one jar per version and for this machine's platform to `target/postgres/<version>/`; all of them
/// hold an archive of the same name, which is why they are files and not on the class path. Each is unpacked once per
/// machine and user, into the temporary folder, and shared between builds.
public record PostgresBinaries(String version, Path home) {
    /// The newest release of a major version among the copied jars.
    ///
    /// @throws IllegalStateException when the build has not copied one
    public static PostgresBinaries of(int major) {
        Path folder = folder();
        Path release = releases(folder, major).stream()
                .max(Comparator.comparing((Path path) -> path.getFileName().toString(), PostgresBinaries::compare))
                .orElseThrow(() -> new IllegalStateException("no PostgreSQL " + major + " in " + folder
                        + ": run ./mvnw -N generate-test-resources, which fetches it"));
        String version = release.getFileName().toString();
        try {
            Path jar = jarIn(release);
            String name = jar.getFileName().toString().replaceAll("\\.jar$", "");
            return new PostgresBinaries(version, SharedFolder.named(name, home -> unpack(jar, home)));
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL " + version + " cannot be unpacked", e);
        }
    }

    public Path program(String name) {
        return home.resolve("bin").resolve(name);
    }

    private static Path folder() {
        String given = System.getProperty("sluice.postgres.binaries");
        return given == null ? Repository.root().resolve("target").resolve("postgres") : Path.of(given);
    }

    private static List<Path> releases(Path folder, int major) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> versions = Files.list(folder)) {
            return versions.filter(path -> path.getFileName().toString().startsWith(major + "."))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int compare(String left, String right) {
        return Integer.compare(minor(left), minor(right));
    }

    private static int minor(String version) {
        return Integer.parseInt(version.split("\\.")[1]);
    }

    private static Path jarIn(Path release) throws IOException {
        try (Stream<Path> files = Files.list(release)) {
            return files.filter(path -> path.toString().endsWith(".jar"))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no jar in " + release));
        }
    }

    private static void unpack(Path jar, Path home) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            Enumeration<JarEntry> entries = file.entries();
            while (entries.hasMoreElements()) {
                JarEntry entry = entries.nextElement();
                if (entry.getName().endsWith(".txz")) {
                    try (InputStream compressed = new BufferedInputStream(file.getInputStream(entry))) {
                        untar(compressed, home);
                    }
                    return;
                }
            }
        }
        throw new IOException("no archive in " + jar);
    }

    private static void untar(InputStream compressed, Path home) throws IOException {
        try (TarArchiveInputStream tar = new TarArchiveInputStream(new XZCompressorInputStream(compressed))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path target = home.resolve(entry.getName()).normalize();
                if (!target.startsWith(home)) {
                    throw new IOException("the archive leaves its folder: " + entry.getName());
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(target);
                    continue;
                }
                Files.createDirectories(target.getParent());
                if (entry.isSymbolicLink()) {
                    Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
                } else {
                    Files.copy(tar, target);
                    boolean program = (entry.getMode() & 0100) != 0;
                    Files.setPosixFilePermissions(
                            target, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
                }
            }
        }
    }
}
