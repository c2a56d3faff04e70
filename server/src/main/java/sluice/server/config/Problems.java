package sluice.server.config;

import java.util.ArrayList;
import java.util.List;

/// Everything found wrong so far, one entry per variable and reason.
final class Problems {
    private final List<SettingsException.Problem> problems = new ArrayList<>();

    void add(Setting setting, String reason, String remedy) {
        add(setting.variable(), reason, remedy);
    }

    void add(String variable, String reason, String remedy) {
        SettingsException.Problem problem = new SettingsException.Problem(variable, reason, remedy);
        if (!problems.contains(problem)) {
            problems.add(problem);
        }
    }

    /// @throws SettingsException with all of them, when there is any
    void throwIfAny() {
        if (!problems.isEmpty()) {
            throw new SettingsException(problems);
        }
    }
}
