package sluice.core.authorization;

import java.util.List;
import sluice.core.error.ErrorCode;

/// The policies a rule decided in process was made of: what PostgreSQL can be asked to confirm its answers, and what
/// decides instead once one was not confirmed.
///
/// @param permission whether the rule may decide by a query per change
/// @param pinned what the shape's filter made constant: the rule speaks of no other rows
/// @param reach whether the rule has an answer for every row
public record Origin(Question question, ProbePermission permission, PinnedColumns pinned, Reach reach) {
    /// What a rule decided in process can say of a row that carries every column it reads.
    public enum Reach {
        /// Always an answer, or PostgreSQL's own error.
        EVERY_ROW,
        /// Some values are outside what is computed here: PostgreSQL is asked about rows that have one.
        MOST_ROWS
    }

    /// The policies as PostgreSQL evaluates them.
    ///
    /// @param sql the composed predicate over the table's bare name, a condition
    /// @param columns attnums it reads, 0 for the whole row
    /// @param policies their names
    public record Question(String sql, List<Integer> columns, List<String> policies) {
        public Question {
            columns = List.copyOf(columns);
            policies = List.copyOf(policies);
        }
    }

    /// The rule by which PostgreSQL decides each row, where that is permitted.
    ///
    /// @param why the policies are not evaluated in process
    /// @param meaning of the policies, which is the same whoever decides
    public RulePlan.Verdict byQuery(String table, String why, Meaning meaning) {
        return switch (permission) {
            case ALLOW ->
                new RulePlan.Verdict.Granted(new Rule(
                        new Rule.Decision.Probed(question.sql()),
                        why,
                        question.columns(),
                        Rule.Lasting.UNTIL_THE_ROW_CHANGES,
                        null,
                        null,
                        meaning));
            case DENY ->
                new RulePlan.Verdict.Refused(
                        ErrorCode.POLICY_REQUIRES_IMPERSONATION,
                        "the policies of table \"" + table + "\" need a query per change: " + why);
        };
    }
}
