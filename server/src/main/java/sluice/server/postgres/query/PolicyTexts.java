package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import sluice.core.catalog.Policy;
import sluice.server.postgres.query.Rows.Row;

/// Policies as SQL text.
///
/// PostgreSQL prints a policy only after it has opened the table, so it waits behind an ALTER
/// TABLE that may take hours.
/// The trees are readable all the same: a table locked like that keeps its policies, with a text that raises, so that
/// whatever needs the text sees no row until the next load.
final class PolicyTexts {
    /// Raises `division_by_zero` for every row.
    static final String UNREADABLE = "((1 OPERATOR(pg_catalog./) 0) IS NULL)";

    /// SQLSTATE of a lock that was not to be had.
    static final String LOCKED = "55P03";

    private static final int LOCK_TIMEOUT_MILLIS = 100;
    private static final int ATTEMPTS_MAX = 2;

    private static final String SERVERS_OWN = "pg_catalog.";

    private final Map<Integer, String> textsByPolicy;
    private final Map<Integer, Map<String, String>> byRole = new HashMap<>();

    private PolicyTexts(Map<Integer, String> textsByPolicy) {
        this.textsByPolicy = textsByPolicy;
    }

    /// Reads within the open transaction; afterwards the transaction is usable whatever happened.
    ///
    /// @param roles that ask by these texts, if they may be assumed
    static PolicyTexts read(Connection connection, List<Integer> relations, List<String> roles) throws SQLException {
        Set<Integer> readable = new LinkedHashSet<>(relations);
        for (int attempt = 0; attempt < ATTEMPTS_MAX && !readable.isEmpty(); attempt++) {
            Rows.run(connection, "SAVEPOINT texts; SET LOCAL lock_timeout = " + LOCK_TIMEOUT_MILLIS);
            try {
                List<List<Row>> answers = Rows.run(
                        connection,
                        CatalogSql.policyTexts(new ArrayList<>(readable)) + "; " + CatalogSql.SHADOWS
                                + "; RELEASE texts");
                Map<Integer, String> texts = new HashMap<>();
                for (Row row : answers.getFirst()) {
                    texts.put(row.oid(0), row.text(1));
                }
                PolicyTexts read = new PolicyTexts(texts);
                if (answers.get(1).getFirst().flag(0)) {
                    for (String role : roles) {
                        read.as(role, connection, new ArrayList<>(readable));
                    }
                }
                return read;
            } catch (SQLException e) {
                if (!LOCKED.equals(QueryException.stateOf(e))) {
                    throw e;
                }
                Set<Integer> locked = new HashSet<>();
                List<List<Row>> answers = Rows.run(connection, "ROLLBACK TO texts; " + CatalogSql.LOCKED);
                answers.getFirst().forEach(row -> locked.add(row.oid(0)));
                readable.removeAll(locked);
            }
        }
        return new PolicyTexts(Map.of());
    }

    /// A name of the server's stands alone where nothing else is found by it. Under a role's own path something may
    /// be: printed there, it is qualified.
    private void as(String role, Connection connection, List<Integer> relations) throws SQLException {
        Rows.run(connection, "SAVEPOINT role; SET LOCAL lock_timeout = " + LOCK_TIMEOUT_MILLIS);
        try {
            List<List<Row>> answers =
                    Rows.run(connection, CallerSession.asRole(role) + "; " + CatalogSql.policyTexts(relations));
            for (Row row : answers.getLast()) {
                String text = row.text(1);
                if (namesOfTheServer(text) > namesOfTheServer(text(row.oid(0)))) {
                    put(row.oid(0), role, text);
                }
            }
        } catch (SQLException e) {
            switch (QueryException.stateOf(e)) {
                case LOCKED -> textsByPolicy.keySet().forEach(policy -> put(policy, role, UNREADABLE));
                // whoever cannot be assumed asks nothing
                case "42501", "22023" -> {}
                default -> throw e;
            }
        }
        Rows.run(connection, "ROLLBACK TO role");
    }

    private void put(int policy, String role, String text) {
        byRole.computeIfAbsent(policy, _ -> new LinkedHashMap<>()).put(role, text);
    }

    private static int namesOfTheServer(String text) {
        return text.split(Pattern.quote(SERVERS_OWN), -1).length;
    }

    /// For roles that read {@link #text} otherwise.
    Map<String, String> byRole(int policy) {
        return byRole.getOrDefault(policy, Map.of());
    }

    String text(int policy) {
        return textsByPolicy.getOrDefault(policy, UNREADABLE);
    }

    /// Moves when a text does, so that what is asked by it is asked anew: without a new version of a policy, the
    /// tables, columns and types it reads may be called otherwise by now, and others by their names.
    static String asked(List<Policy> policies) {
        return policies.stream()
                .map(policy -> policy.text() + " " + policy.textsByRole())
                .toList()
                .toString();
    }
}
