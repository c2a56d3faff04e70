package sluice.testkit.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// Reads all Java sources of one module and names each place that breaks a rule.
public final class Tidy {
    private Tidy() {}

    /// @param module its folder below the root, such as `core`
    /// @return in order of path and line; empty when all is well
    public static List<Violation> violations(String module) {
        Path root = Repository.root();
        List<SourceFile> files = new ArrayList<>();
        files.addAll(sources(root, root.resolve(module).resolve("src/main/java"), SourceFile.Kind.MAIN));
        files.addAll(sources(root, root.resolve(module).resolve("src/test/java"), SourceFile.Kind.TEST));
        if (files.isEmpty()) {
            throw new IllegalStateException("no sources in " + root.resolve(module));
        }
        List<Violation> violations = new ArrayList<>();
        for (SourceFile file : files) {
            violations.addAll(TextRules.check(file));
            violations.addAll(SyntaxRules.check(file));
        }
        violations.addAll(packagesWithoutNullMarked(files));
        return violations;
    }

    private static List<SourceFile> sources(Path root, Path folder, SourceFile.Kind kind) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.walk(folder)) {
            return paths.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .map(path -> SourceFile.read(path, kind))
                    .map(file -> new SourceFile(
                            root.relativize(file.path()), kind, file.text(), file.code(), file.comments()))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A test package of the same name as a main package is marked by the latter.
    private static List<Violation> packagesWithoutNullMarked(List<SourceFile> files) {
        Set<String> marked = new HashSet<>();
        for (SourceFile file : files) {
            if (file.isPackageInfo() && file.code().contains("@NullMarked")) {
                marked.add(file.packageName());
            }
        }
        List<Violation> violations = new ArrayList<>();
        for (SourceFile file : files) {
            if (marked.add(file.packageName())) {
                violations.add(new Violation(file.path(), 1, "its package has no package-info with @NullMarked"));
            }
        }
        return violations;
    }
}
