package sluice.core.authorization;

import java.util.List;

/// Errors of PostgreSQL that may pass and say nothing about a policy.
public final class TransientErrors {
    /// Connection, resources, operator intervention, system, rollback, object state, transaction state.
    private static final List<String> CLASSES = List.of("08", "53", "57", "58", "40", "55", "25");

    private TransientErrors() {}

    /// @param sqlState five letters; anything else is none of them
    public static boolean contain(String sqlState) {
        return sqlState.length() == 5 && CLASSES.contains(sqlState.substring(0, 2));
    }
}
