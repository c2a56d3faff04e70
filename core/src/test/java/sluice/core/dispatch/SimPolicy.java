package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.authorization.RulePlan;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.value.Oid;
import sluice.core.value.Truth;

/// Who sees a row of the simulated database: once as the naive judge says it, once as the engine is given it.
enum SimPolicy {
    EVERYTHING,
    OWNER,
    OWNER_OR_NOBODYS,
    KIND_OF_CLAIM,
    /// Of the kinds that another table gives the caller: PostgreSQL decides.
    MEMBER,
    NOBODY;

    static final int OWNER_COLUMN = 2;
    static final int KIND_COLUMN = 3;

    /// A caller of the simulation.
    record Caller(String subject, String org, String role) {
        private static final List<Caller> ALL = List.of(
                new Caller("alice", "x", "authenticated"),
                new Caller("alice", "y", "authenticated"),
                new Caller("bob", "x", "authenticated"),
                new Caller("carol", "y", "authenticated"),
                new Caller("alice", "x", "service"));

        static Caller any(Random random) {
            return ALL.get(random.nextInt(ALL.size()));
        }

        String claims() {
            return subject + "," + org;
        }

        static Caller of(String claims, String role) {
            String[] parts = claims.split(",", -1);
            return new Caller(parts[0], parts[1], role);
        }

        boolean bypasses() {
            return role.equals("service");
        }
    }

    /// The naive judge.
    boolean shows(Caller caller, SimDatabase.Row row, Set<String> members) {
        if (caller.bypasses()) {
            return true;
        }
        return switch (this) {
            case EVERYTHING -> true;
            case OWNER -> caller.subject().equals(row.owner());
            case OWNER_OR_NOBODYS -> row.owner() == null || caller.subject().equals(row.owner());
            case KIND_OF_CLAIM -> caller.org().equals(row.kind());
            case MEMBER -> members.contains(caller.subject() + "/" + row.kind());
            case NOBODY -> false;
        };
    }

    private List<Fold> folds() {
        return switch (this) {
            case EVERYTHING, MEMBER, NOBODY -> List.of();
            case OWNER, OWNER_OR_NOBODYS -> List.of(new Fold("claim subject", Oid.TEXT));
            case KIND_OF_CLAIM -> List.of(new Fold("claim org", Oid.TEXT));
        };
    }

    RulePlan plan() {
        SimPolicy policy = this;
        return new RulePlan() {
            @Override
            public List<Fold> folds() {
                return policy.folds();
            }

            @Override
            public Verdict complete(List<FoldAnswer> answers) {
                String claim =
                        answers.isEmpty() || !(answers.getFirst() instanceof FoldAnswer.Value(var text)) ? null : text;
                Rule rule = policy.rule(claim);
                return rule == null
                        ? new Verdict.Refused(ErrorCode.SHAPE_NOT_AUTHORIZED, "no policy lets the role read")
                        : new Verdict.Granted(rule);
            }
        };
    }

    private @Nullable Rule rule(@Nullable String claim) {
        byte[] expected = claim == null ? new byte[0] : claim.getBytes(StandardCharsets.UTF_8);
        return switch (this) {
            case EVERYTHING -> new Rule(new Rule.Decision.Everything(), "no row-level security", List.of());
            case OWNER -> compiled(OWNER_COLUMN, expected, Truth.NULL);
            case OWNER_OR_NOBODYS -> compiled(OWNER_COLUMN, expected, Truth.TRUE);
            case KIND_OF_CLAIM -> compiled(KIND_COLUMN, expected, Truth.NULL);
            case MEMBER -> new Rule(new Rule.Decision.Probed("member"), "reads another table", List.of(KIND_COLUMN));
            case NOBODY -> null;
        };
    }

    private static Rule compiled(int attnum, byte[] expected, Truth ofNull) {
        return new Rule(
                new Rule.Decision.Compiled(row -> holds(row, attnum, expected, ofNull)), "own column", List.of(attnum));
    }

    private static Truth holds(RowImage row, int attnum, byte[] expected, Truth ofNull) {
        return switch (row.kind(attnum)) {
            case TEXT -> Truth.of(row.tuple().holds(row.mapping().position(attnum), expected));
            case NULL -> ofNull;
            case UNCHANGED, NOT_SENT -> Truth.UNDECIDABLE;
        };
    }
}
