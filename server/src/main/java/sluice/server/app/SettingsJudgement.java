package sluice.server.app;

import java.util.List;
import sluice.server.config.Settings;
import sluice.server.postgres.query.Finding;

/// What an operator should know of settings that are allowed, and together leave something without a bound.
final class SettingsJudgement {
    private SettingsJudgement() {}

    static List<Finding> of(Settings settings) {
        Settings.Streams streams = settings.streams();
        if (streams.streamsMax() > 0 || streams.admitMemory() > 0) {
            return List.of();
        }
        return List.of(new Finding(
                "unbounded_streams",
                Finding.Severity.WARNING,
                "SLUICE_MAX_STREAMS",
                "and SLUICE_ADMIT_MEMORY are both 0",
                "streams are taken until the memory is used up, and then all of them are lost",
                "set one of them: SLUICE_ADMIT_MEMORY=0.5 refuses new streams before that"));
    }
}
