package sluice.server.config;

import java.util.List;

/// The environment cannot be used. Names every problem at once; never repeats a value.
public final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    /// @param variable the one to change
    /// @param reason one short fact
    /// @param remedy what to write or run
    public record Problem(String variable, String reason, String remedy) {
        @Override
        public String toString() {
            return variable + ": " + reason + "; " + remedy;
        }
    }

    SettingsException(List<Problem> problems) {
        super(String.join(
                System.lineSeparator(), problems.stream().map(Problem::toString).toList()));
        this.problems = List.copyOf(problems);
    }

    public List<Problem> problems() {
        return problems;
    }
}
