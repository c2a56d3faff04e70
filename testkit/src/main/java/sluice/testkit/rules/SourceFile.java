package sluice.testkit.rules;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// One Java source, seen three ways of equal length, so that an offset means the same line in each.
///
/// @param text as written
/// @param code with comments and the contents of literals blanked
/// @param comments with all but comments blanked
record SourceFile(Path path, Kind kind, String text, String code, String comments) {
    enum Kind {
        MAIN,
        TEST
    }

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");

    // Text blocks are taken in runs without quotes: one loop round a character overflows the stack on a long one.
    private static final Pattern TOKEN = Pattern.compile(
            "(?<comment>//[^\\n]*|/\\*(?s:.*?)\\*/)"
                    + "|(?<literal>\"\"\"(?s:[^\"\\\\]++|\\\\.|\"(?!\"\"))*+\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*')");

    static SourceFile read(Path path, Kind kind) {
        try {
            return of(path, kind, Files.readString(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static SourceFile of(Path path, Kind kind, String text) {
        StringBuilder code = new StringBuilder(text);
        StringBuilder comments = new StringBuilder(text.replaceAll("[^\\n]", " "));
        Matcher token = TOKEN.matcher(text);
        while (token.find()) {
            String blank = token.group().replaceAll("[^\\n]", " ");
            code.replace(token.start(), token.end(), blank);
            if (token.group("comment") != null) {
                comments.replace(token.start(), token.end(), token.group());
            }
        }
        return new SourceFile(path, kind, text, code.toString(), comments.toString());
    }

    int lineAt(int offset) {
        return 1
                + (int) text.substring(0, offset).chars().filter(c -> c == '\n').count();
    }

    int lines() {
        return (int) text.lines().count();
    }

    /// Empty in the unnamed package.
    String packageName() {
        Matcher found = PACKAGE.matcher(code);
        return found.find() ? found.group(1) : "";
    }

    boolean isPackageInfo() {
        return path.endsWith("package-info.java");
    }
}
