package sluice.testkit.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Rules that a pattern over the source can decide.
final class TextRules {
    static final int LINES_MAX = 600;

    private record Rule(String message, Scope scope, Function<SourceFile, String> view, Pattern forbidden) {}

    private enum Scope {
        EVERYWHERE,
        TESTS,
        CORE;

        boolean covers(SourceFile file) {
            return switch (this) {
                case EVERYWHERE -> true;
                case TESTS -> file.kind() == SourceFile.Kind.TEST;
                case CORE ->
                    file.kind() == SourceFile.Kind.MAIN && file.packageName().startsWith("sluice.core");
            };
        }
    }

    private static final List<Rule> RULES = List.of(
            rule(
                    "a note to do later: do it, or file it",
                    Scope.EVERYWHERE,
                    SourceFile::comments,
                    "\\b(TODO|FIXME|XXX)\\b"),
            rule(
                    "a comment explains the code, not the ticket",
                    Scope.EVERYWHERE,
                    SourceFile::comments,
                    "(?i)(?<![\\w&/])#\\d+\\b|\\b(issue|ticket|session)\\s+#?\\d+\\b|\\bpull/\\d+"),
            rule("import each type by name", Scope.EVERYWHERE, SourceFile::code, "(?m)^import [\\w. ]+\\*;"),
            rule(
                    "a suppression names its reason on the same line",
                    Scope.EVERYWHERE,
                    SourceFile::text,
                    "(?m)^\\s*@SuppressWarnings\\([^)\\n]*\\)(?![^\\n]*//)"),
            rule("await a condition with a deadline", Scope.TESTS, SourceFile::code, "\\bThread\\s*\\.\\s*sleep\\b"),
            rule("await a condition with a deadline", Scope.TESTS, SourceFile::code, "\\b[A-Z]+\\s*\\.\\s*sleep\\("),
            rule("a test runs or is removed", Scope.TESTS, SourceFile::code, "@Disabled\\b|@Ignore\\b"),
            rule(
                    "fakes are written by hand",
                    Scope.EVERYWHERE,
                    SourceFile::code,
                    "\\b(org\\.mockito|org\\.easymock|org\\.powermock|mockit)\\b"),
            rule(
                    "its iteration order changes from run to run: use a linked collection behind an unmodifiable view",
                    Scope.CORE,
                    SourceFile::code,
                    "\\b(Set|Map)\\s*\\.\\s*(<[^>]*>)?(of|ofEntries|copyOf)\\s*\\("
                            + "|\\btoSet\\(\\)|\\btoUnmodifiable(Set|Map)\\("));

    private TextRules() {}

    private static Rule rule(String message, Scope scope, Function<SourceFile, String> view, String forbidden) {
        return new Rule(message, scope, view, Pattern.compile(forbidden));
    }

    static List<Violation> check(SourceFile file) {
        List<Violation> violations = new ArrayList<>();
        if (file.lines() > LINES_MAX) {
            violations.add(new Violation(file.path(), LINES_MAX + 1, "a file has at most " + LINES_MAX + " lines"));
        }
        for (Rule rule : RULES) {
            if (!rule.scope().covers(file)) {
                continue;
            }
            Matcher found = rule.forbidden().matcher(rule.view().apply(file));
            while (found.find()) {
                violations.add(new Violation(file.path(), file.lineAt(found.start()), rule.message()));
            }
        }
        return violations;
    }
}
