package sluice.server.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.server.postgres.console.StatementResult;

/// A statement's rows in columns, or its tag.
final class TextTable {
    private static final String NULL = "";

    private TextTable() {}

    /// Ends with a newline.
    static String of(StatementResult result) {
        if (result.columns().isEmpty()) {
            return result.tag() + "\n";
        }
        List<Integer> widths = widths(result);
        StringBuilder text = new StringBuilder();
        line(text, result.columns(), widths);
        List<String> rules = widths.stream().map("-"::repeat).toList();
        text.append('-').append(String.join("-+-", rules)).append("-\n");
        for (List<@Nullable String> row : result.rows()) {
            line(text, shown(row), widths);
        }
        int count = result.rows().size();
        text.append('(').append(count).append(count == 1 ? " row)\n" : " rows)\n");
        return text.toString();
    }

    private static List<Integer> widths(StatementResult result) {
        List<Integer> widths = new ArrayList<>();
        for (String column : result.columns()) {
            widths.add(length(column));
        }
        for (List<@Nullable String> row : result.rows()) {
            List<String> values = shown(row);
            for (int i = 0; i < values.size(); i++) {
                widths.set(i, Math.max(widths.get(i), length(values.get(i))));
            }
        }
        return widths;
    }

    private static List<String> shown(List<@Nullable String> row) {
        List<String> shown = new ArrayList<>();
        for (@Nullable String value : row) {
            shown.add(value == null ? NULL : printable(value));
        }
        return shown;
    }

    /// Control characters would move the cursor of the terminal the text is printed to.
    static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", " ");
    }

    private static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    private static void line(StringBuilder text, List<String> values, List<Integer> widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            String value = values.get(i);
            line.append(i == 0 ? " " : " | ").append(value);
            line.append(" ".repeat(widths.get(i) - length(value)));
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }
}
