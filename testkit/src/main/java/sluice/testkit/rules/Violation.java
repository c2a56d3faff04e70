package sluice.testkit.rules;

import java.nio.file.Path;

/// One place that breaks one rule. Prints as `path:line: rule`, which editors turn into a link.
public record Violation(Path file, int line, String rule) {
    @Override
    public String toString() {
        return file + ":" + line + ": " + rule;
    }
}
