package sluice.server.postgres.query;

/// One thing about the database that an operator should know.
///
/// @param code stable name, for metrics and documentation
/// @param subject what it is about: a setting, a table, a role
/// @param reason what is so
/// @param impact what comes of it
/// @param remedy the setting to change or the SQL to run
public record Finding(String code, Severity severity, String subject, String reason, String impact, String remedy) {
    /// Whether the server starts in spite of it.
    public enum Severity {
        REFUSAL,
        WARNING
    }

    static Finding refusal(String code, String subject, String reason, String impact, String remedy) {
        return new Finding(code, Severity.REFUSAL, subject, reason, impact, remedy);
    }

    static Finding warning(String code, String subject, String reason, String impact, String remedy) {
        return new Finding(code, Severity.WARNING, subject, reason, impact, remedy);
    }

    /// For a terminal: one line of what and why, then the remedy.
    public String text() {
        return subject + ": " + reason + "; " + impact + System.lineSeparator() + "  " + remedy;
    }
}
