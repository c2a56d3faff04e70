package sluice.server.config;

import org.jspecify.annotations.Nullable;

/// The reference and the environment template, made from {@link Setting}. A test compares both with the files in
/// `docs` and `deploy`.
public final class SettingsReference {
    private SettingsReference() {}

    /// `docs/settings.md`.
    public static String markdown() {
        StringBuilder text = new StringBuilder("""
                # Settings

                Environment variables, read once at start. Durations are written as in Go (`1500ms`, `30s`, `1h30m`),
                sizes in bytes or with `KiB`, `MiB`, `GiB`. An empty variable counts as unset. The server refuses to
                start, naming every variable concerned, when it meets an unknown variable with the prefix `SLUICE_`, a
                value it cannot read, or two values that contradict each other.

                *Not yet* marks settings of parts that are still to come: they are accepted with their default, and
                refused with any other value. [`deploy/sluice.env.example`](../deploy/sluice.env.example) lists every
                variable with its default.
                """);
        for (Setting.Topic topic : Setting.Topic.values()) {
            text.append("\n## ").append(topic.title()).append("\n\n| Variable | Default | |\n| --- | --- | --- |\n");
            for (Setting setting : Setting.values()) {
                if (setting.topic() == topic) {
                    text.append("| `")
                            .append(setting.variable())
                            .append("` | ")
                            .append(standard(setting))
                            .append(" | ")
                            .append(meaning(setting))
                            .append(" |\n");
                }
            }
        }
        return text.toString();
    }

    /// `deploy/sluice.env.example`: defaults commented out, required variables with an example to replace.
    public static String environmentTemplate() {
        StringBuilder text = new StringBuilder("""
                # Every setting with its default; docs/settings.md explains them. The required ones are the first three.
                """);
        for (Setting setting : Setting.values()) {
            String example = example(setting);
            if (example != null) {
                text.append('\n').append(setting.variable()).append('=').append(example);
            }
        }
        text.append('\n');
        for (Setting.Topic topic : Setting.Topic.values()) {
            text.append("\n# ").append(topic.title()).append('\n');
            for (Setting setting : Setting.values()) {
                if (setting.topic() == topic && setting.availability() != Setting.Availability.REQUIRED) {
                    String standard = setting.standard();
                    text.append('#')
                            .append(setting.variable())
                            .append('=')
                            .append(standard == null ? "" : standard)
                            .append(setting.availability() == Setting.Availability.LATER ? "   # not yet" : "")
                            .append('\n');
                }
            }
        }
        return text.toString();
    }

    private static String standard(Setting setting) {
        if (setting.availability() == Setting.Availability.REQUIRED) {
            return "required";
        }
        String standard = setting.standard();
        if (standard == null) {
            return "unset";
        }
        return standard.isEmpty() ? "empty" : "`" + standard + "`";
    }

    private static String meaning(Setting setting) {
        String words = String.join("`, `", setting.kind().words());
        return (setting.availability() == Setting.Availability.LATER ? "*Not yet.* " : "")
                + setting.meaning()
                + (setting.kind().form() == Kind.Form.CHOICE ? " (`" + words + "`)" : "");
    }

    private static @Nullable String example(Setting setting) {
        if (setting == Setting.DB_REPL_URL) {
            return "postgres://sluice_repl:password@localhost:5432/postgres?replication=database";
        }
        if (setting == Setting.DB_AUTHZ_URL) {
            return "postgres://sluice_authz:password@localhost:5432/postgres";
        }
        return setting == Setting.JWKS_URL ? "http://localhost:9999/.well-known/jwks.json" : null;
    }
}
