package sluice.server.judge;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// One injected fault: a piece of a source file and what stands there instead. Blanks and lines do not matter, so
/// that a patch survives formatting and moves; the piece must occur exactly once.
///
/// @param file below the root of the sources
record Mutant(String name, String file, String old, String replacement) {
    /// Blocks of `# name`, `@ file`, `- old` and `+ new`; several lines of one kind belong together.
    static List<Mutant> read(String text) {
        List<Mutant> mutants = new ArrayList<>();
        for (String block : text.split("(?m)^# ", -1)) {
            if (block.isBlank() || block.startsWith("!")) {
                continue;
            }
            StringBuilder old = new StringBuilder();
            StringBuilder replacement = new StringBuilder();
            String file = "";
            for (String line : block.lines().skip(1).toList()) {
                if (line.startsWith("@ ")) {
                    file = line.substring(2).strip();
                } else if (line.startsWith("- ")) {
                    old.append(line.substring(2)).append('\n');
                } else if (line.startsWith("+ ")) {
                    replacement.append(line.substring(2)).append('\n');
                }
            }
            mutants.add(new Mutant(
                    block.lines().findFirst().orElseThrow(),
                    file,
                    old.toString().strip(),
                    replacement.toString().strip()));
        }
        return mutants;
    }

    /// The patched source.
    ///
    /// @throws IllegalStateException when the patch does not fit the code any more
    String patched(Path root) {
        try {
            String source = Files.readString(root.resolve(file));
            StringBuilder pattern = new StringBuilder();
            for (String token : old.split("\\s+", -1)) {
                pattern.append(pattern.isEmpty() ? "" : "\\s+").append(Pattern.quote(token));
            }
            Matcher matcher = Pattern.compile(pattern.toString()).matcher(source);
            if (!matcher.find()) {
                throw new IllegalStateException("mutant \"" + name + "\" does not fit " + file);
            }
            String patched = source.substring(0, matcher.start()) + replacement + source.substring(matcher.end());
            if (matcher.find()) {
                throw new IllegalStateException("mutant \"" + name + "\" fits " + file + " more than once");
            }
            return patched;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Compiles the patched file against everything else as it is, and loads core and server anew with it.
    ///
    /// @param folder empty; classes go there
    URLClassLoader load(Path root, Path folder) {
        try {
            Path source = folder.resolve("source").resolve(Path.of(file).getFileName());
            Files.createDirectories(source.getParent());
            Files.writeString(source, patched(root), StandardCharsets.UTF_8);
            Path classes = Files.createDirectories(folder.resolve("classes"));
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            StringWriter said = new StringWriter();
            try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
                List<String> options = List.of("-proc:none", "-cp", classPath(), "-d", classes.toString());
                boolean compiled = compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(source))
                        .call();
                if (!compiled) {
                    throw new IllegalStateException("mutant \"" + name + "\" does not compile: " + said);
                }
            }
            List<URL> urls = new ArrayList<>();
            urls.add(url(classes));
            for (String entry : classPath().split(java.io.File.pathSeparator, -1)) {
                urls.add(url(Path.of(entry)));
            }
            return new Fresh(urls.toArray(URL[]::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The build's runner starts from a jar that only names the class path, and says what it names.
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static URL url(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }

    /// Has its own core and server; everything else, the test servers included, is shared.
    private static final class Fresh extends URLClassLoader {
        Fresh(URL[] urls) {
            super(urls, Mutant.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("sluice.core.") && !name.startsWith("sluice.server.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }
    }
}
