package sluice.server.config;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.session.RevocationTables;
import sluice.core.session.RevocationTables.Table;

/// Reads what ends sessions. A setting that only counts while sessions are watched is refused while they are not:
/// whoever wrote it believes they are.
final class RevocationReader {
    private final Map<String, String> environment;
    private final Problems problems;

    RevocationReader(Map<String, String> environment, Problems problems) {
        this.environment = environment;
        this.problems = problems;
    }

    Settings.@Nullable Revocation read() {
        boolean enabled = isOn(Setting.REVOCATION_ENABLED);
        boolean lookup = isOn(Setting.REVOCATION_SESSION_LOOKUP);
        if (!enabled) {
            refuseLeftovers();
            return null;
        }
        Table sessions = table(Setting.REVOCATION_SESSIONS_TABLE);
        Table users = text(Setting.REVOCATION_USERS_TABLE).isEmpty() ? null : table(Setting.REVOCATION_USERS_TABLE);
        if (sessions.equals(users)) {
            problems.add(
                    Setting.REVOCATION_USERS_TABLE,
                    "names the table of the sessions",
                    "name the table of the users, or remove it");
        }
        String column = text(Setting.REVOCATION_USERS_BAN_COLUMN);
        if (users == null && !column.equals(Setting.REVOCATION_USERS_BAN_COLUMN.standard())) {
            problems.add(
                    Setting.REVOCATION_USERS_BAN_COLUMN,
                    "there is no table of users to read it from",
                    "set SLUICE_REVOCATION_USERS_TABLE, or remove it");
        }
        return new Settings.Revocation(
                new RevocationTables(sessions, users, column),
                lookup ? Settings.Revocation.Lookup.ON : Settings.Revocation.Lookup.OFF);
    }

    private void refuseLeftovers() {
        for (Setting setting : List.of(
                Setting.REVOCATION_SESSIONS_TABLE,
                Setting.REVOCATION_USERS_TABLE,
                Setting.REVOCATION_USERS_BAN_COLUMN,
                Setting.REVOCATION_SESSION_LOOKUP)) {
            if (!text(setting).equals(setting.standard())) {
                problems.add(
                        setting,
                        "sessions are not watched, so it would do nothing",
                        "set SLUICE_REVOCATION_ENABLED=true, or remove it");
            }
        }
    }

    /// As the catalog spells it: a name with a dot of its own cannot be written.
    private Table table(Setting setting) {
        String[] parts = text(setting).split("\\.", -1);
        if (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty()) {
            problems.add(setting, "not a table with its schema", "write it like auth.sessions");
            return new Table("auth", "sessions");
        }
        return new Table(parts[0], parts[1]);
    }

    private boolean isOn(Setting setting) {
        try {
            return "true".equals(setting.kind().parse(text(setting)));
        } catch (IllegalArgumentException e) {
            String reason = e.getMessage();
            problems.add(setting, "cannot be read", reason == null ? "remove it" : reason);
            return false;
        }
    }

    private String text(Setting setting) {
        String given = environment.get(setting.variable());
        String standard = setting.standard();
        return given != null && !given.isEmpty() ? given : standard == null ? "" : standard;
    }
}
