package sluice.server.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The examples of a page of the docs: blocks of code, and what stands in braces between two backquotes in a line.
public final class PageExamples {
    private static final Pattern EXAMPLE = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$|`(\\{[^`\n]*\\})`");

    /// @param kind a block's language, or `inline`
    public record Example(String kind, String text) {
        public static final String INLINE = "inline";
    }

    private PageExamples() {}

    /// All of them in the page's order.
    public static List<Example> of(String page) {
        List<Example> examples = new ArrayList<>();
        Matcher matcher = EXAMPLE.matcher(text(page));
        while (matcher.find()) {
            examples.add(
                    matcher.group(1) == null
                            ? new Example(Example.INLINE, matcher.group(3))
                            : new Example(matcher.group(1), matcher.group(2)));
        }
        return examples;
    }

    /// What stands between backquotes in the first column of the table under this heading.
    public static List<String> firstColumn(String page, String heading) {
        List<String> cells = new ArrayList<>();
        boolean inside = false;
        for (String line : text(page).lines().toList()) {
            inside = line.startsWith(heading) || (inside && line.startsWith("|"));
            if (inside && line.startsWith("| `")) {
                Matcher cell = Pattern.compile("`([^`]+)`").matcher(line.substring(0, line.lastIndexOf(" | ")));
                while (cell.find()) {
                    cells.add(cell.group(1));
                }
            }
        }
        return cells;
    }

    private static String text(String page) {
        try {
            return Files.readString(ApiFiles.page(page));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
