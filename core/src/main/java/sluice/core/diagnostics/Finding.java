package sluice.core.diagnostics;

import org.jspecify.annotations.Nullable;

/// One thing an operator should know of.
///
/// @param code stable name
/// @param relation `schema.table`, null when it is not about one
/// @param policy null when it is not about one
/// @param reason what is so
/// @param impact what comes of it
/// @param remedy the SQL to run where there is one that helps by itself, else what to change; `...` stands for what
///     only the operator knows
public record Finding(
        String code,
        Severity severity,
        @Nullable String relation,
        @Nullable String policy,
        String reason,
        String impact,
        String remedy) {
    /// Worst first.
    public enum Severity {
        /// Rows are lost or withheld, writes fail, or each change costs a query.
        HIGH,
        /// It costs more than it must, or will become worse.
        MEDIUM;

        /// As JSON spells it.
        public String wireName() {
            return switch (this) {
                case HIGH -> "high";
                case MEDIUM -> "medium";
            };
        }
    }

    /// What is known from the catalog and the subscriptions. The start-up validation has codes of its own.
    public enum Code {
        REVOCATIONS_UNSEEN("revocations_unseen", Severity.HIGH),
        TIER_C_POLICY("tier_c_policy", Severity.HIGH),
        TIER_C_SUBSCRIPTIONS("tier_c_subscriptions", Severity.HIGH),
        POLICY_UNPARSEABLE("policy_unparseable", Severity.HIGH),
        REPLICA_IDENTITY_BROKEN("replica_identity_broken", Severity.HIGH),
        POLICY_APPLIES_TO_PUBLIC("policy_applies_to_public", Severity.MEDIUM),
        POLICY_FUNCTION_NOT_WRAPPED("policy_function_not_wrapped", Severity.MEDIUM),
        UNINDEXED_POLICY_COLUMN("unindexed_policy_column", Severity.MEDIUM),
        REPLICA_IDENTITY_FULL_WITH_TOAST("replica_identity_full_with_toast", Severity.MEDIUM),
        UNINDEXED_SHAPE("unindexed_shape", Severity.MEDIUM);

        private final String wireName;
        private final Severity severity;

        Code(String wireName, Severity severity) {
            this.wireName = wireName;
            this.severity = severity;
        }

        /// As it is reported.
        public String wireName() {
            return wireName;
        }

        public Severity severity() {
            return severity;
        }
    }

    /// Why, what comes of it, and what helps.
    record Text(String reason, String impact, String remedy) {}

    static Finding of(Code code, String relation, @Nullable String policy, Text text) {
        return new Finding(code.wireName, code.severity, relation, policy, text.reason(), text.impact(), text.remedy());
    }
}
