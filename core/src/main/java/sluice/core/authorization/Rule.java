package sluice.core.authorization;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.Predicate;
import sluice.core.value.Truth;

/// What one caller may see of one table, ready to decide rows.
///
/// @param reason one sentence for the client: why this tier
/// @param readsColumns attnums the rule needs from a row, of a probed rule too: a row that lacks one is
///     undecidable. 0 stands for the whole row
/// @param lasting whether a row that is visible stays so until it changes
/// @param origin the policies a rule decided in process was made of; null for every other rule
/// @param lease what of it the time alone may take away from the caller; null for nothing
/// @param meaning what tells it from another rule
public record Rule(
        Decision decision,
        String reason,
        List<Integer> readsColumns,
        Lasting lasting,
        @Nullable Origin origin,
        @Nullable Lease lease,
        Meaning meaning) {
    public Rule {
        readsColumns = List.copyOf(readsColumns);
    }

    /// A rule that was made of no policies.
    public Rule(
            Decision decision,
            String reason,
            List<Integer> readsColumns,
            Lasting lasting,
            @Nullable Origin origin,
            @Nullable Lease lease) {
        this(decision, reason, readsColumns, lasting, origin, lease, meaning(decision));
    }

    private static Meaning meaning(Decision decision) {
        return decision instanceof Decision.Everything ? Meaning.everything() : new Meaning.Given(decision);
    }

    /// A rule that no time takes away.
    public Rule(
            Decision decision, String reason, List<Integer> readsColumns, Lasting lasting, @Nullable Origin origin) {
        this(decision, reason, readsColumns, lasting, origin, null);
    }

    /// A rule that nobody can be asked to confirm, and whose answers only a change of the row changes.
    public Rule(Decision decision, String reason, List<Integer> readsColumns) {
        this(decision, reason, readsColumns, Lasting.UNTIL_THE_ROW_CHANGES, null);
    }

    /// How long an answer stands.
    public enum Lasting {
        UNTIL_THE_ROW_CHANGES,
        /// The clock is part of the rule.
        FOR_A_TIME
    }

    /// How rows are decided.
    public sealed interface Decision {
        /// Every row the shape's filter admits is visible.
        record Everything() implements Decision {}

        record Compiled(Predicate predicate) implements Decision {}

        /// @param sql the composed predicate as SQL over the table's bare name, for a probe under the
        /// caller's role
        record Probed(String sql) implements Decision {}
    }

    /// A rule that no row satisfies and none fails: what may be seen cannot be said yet.
    public static Rule undecidable() {
        return new Rule(new Decision.Compiled(row -> Truth.UNDECIDABLE), "rights are in motion", List.of());
    }

    /// What PostgreSQL is asked about rows that this rule leaves to it: all rows of a probed rule, those of a
    /// compiled one that have a value outside what is computed here.
    ///
    /// @return the predicate over the table's bare name; null when nobody is ever asked
    public @Nullable String question() {
        return switch (decision) {
            case Decision.Everything() -> null;
            case Decision.Compiled _ -> questionOfSome();
            case Decision.Probed(var sql) -> sql;
        };
    }

    /// Whether PostgreSQL decides it and it reads nothing of the row: its answer is the same for every row.
    public boolean asksOfTheCallerAlone() {
        return decision instanceof Decision.Probed && readsColumns.isEmpty();
    }

    private @Nullable String questionOfSome() {
        Origin asked = origin;
        if (asked == null || asked.reach() == Origin.Reach.EVERY_ROW || asked.permission() == ProbePermission.DENY) {
            return null;
        }
        return asked.question().sql();
    }

    /// Attnums a row must carry to be asked about; 0 stands for the whole row.
    public List<Integer> questionColumns() {
        Origin asked = origin;
        return asked != null && decision instanceof Decision.Compiled
                ? asked.question().columns()
                : readsColumns;
    }

    public Tier tier() {
        return switch (decision) {
            case Decision.Everything() -> Tier.A;
            case Decision.Compiled(var predicate) -> Tier.B;
            case Decision.Probed(var sql) -> Tier.C;
        };
    }

    /// The compiled predicate of a Tier B rule, null for the others.
    public @Nullable Predicate predicate() {
        return decision instanceof Decision.Compiled(var compiled) ? compiled : null;
    }
}
