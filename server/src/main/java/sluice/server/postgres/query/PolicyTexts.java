package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    private static final int LOCK_TIMEOUT_MILLIS = 100;
    private static final int ATTEMPTS_MAX = 2;

    private final Map<Integer, String> textsByPolicy;

    private PolicyTexts(Map<Integer, String> textsByPolicy) {
        this.textsByPolicy = textsByPolicy;
    }

    /// Reads within the open transaction; afterwards the transaction is usable whatever happened.
    static PolicyTexts read(Connection connection, List<Integer> relations) throws SQLException {
        Set<Integer> readable = new LinkedHashSet<>(relations);
        for (int attempt = 0; attempt < ATTEMPTS_MAX && !readable.isEmpty(); attempt++) {
            Rows.run(connection, "SAVEPOINT texts; SET LOCAL lock_timeout = " + LOCK_TIMEOUT_MILLIS);
            try {
                List<List<Row>> answers =
                        Rows.run(connection, CatalogSql.policyTexts(new ArrayList<>(readable)) + "; RELEASE texts");
                Map<Integer, String> texts = new HashMap<>();
                for (Row row : answers.getFirst()) {
                    texts.put(row.oid(0), row.text(1));
                }
                return new PolicyTexts(texts);
            } catch (SQLException e) {
                if (!"55P03".equals(QueryException.stateOf(e))) {
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

    String text(int policy) {
        return textsByPolicy.getOrDefault(policy, UNREADABLE);
    }

    /// Moves when a text does, so that what is asked by it is asked anew: without a new version of a policy, the
    /// tables, columns and types it reads may be called otherwise by now, and others by their names.
    static String of(List<Policy> policies) {
        return policies.stream()
                .map(policy -> String.valueOf(policy.text()))
                .toList()
                .toString();
    }
}
