package sluice.core.authorization;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.RulePlan.Verdict;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Function;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Connectives;
import sluice.core.expression.Expression;
import sluice.core.expression.ExpressionReader;
import sluice.core.expression.FoldList;
import sluice.core.expression.PolicyTree;

/// Makes the plan of what one role may see of one table, from the catalog alone. Without state; any thread may ask
/// it.
///
/// What is not a clear yes is refused, withheld or left to PostgreSQL; nothing in here widens a rule.
public final class RlsResolver {
    private static final int OLDEST_KNOWN_MAJOR = 15;
    private static final int NEWEST_KNOWN_MAJOR = 18;

    private final ProbePermission probes;

    public RlsResolver(ProbePermission probes) {
        this.probes = probes;
    }

    /// @param pinned only equalities of the shape's filter: the rule then speaks of nothing but
    /// tuples for which they are
    ///     TRUE, so a row that left the filter must be judged by a plan without them
    public RulePlan plan(CatalogImage catalog, Relation relation, Role role, PinnedColumns pinned) {
        return switch (PolicyComposer.compose(relation, role)) {
            case PolicyComposer.Composition.Unrestricted(var reason) ->
                new SettledPlan(new Verdict.Granted(new Rule(new Rule.Decision.Everything(), reason, List.of())));
            case PolicyComposer.Composition.NothingVisible() ->
                new SettledPlan(refused(relation, "no policy lets role \"" + role.name() + "\" read"));
            case PolicyComposer.Composition.Policies policies -> plan(catalog, relation, role, pinned, policies);
        };
    }

    /// What the role's rule for a shape without a filter comes to before any caller is known.
    public Forecast forecast(CatalogImage catalog, Relation relation, Role role) {
        RulePlan plan = plan(catalog, relation, role, PinnedColumns.NONE);
        return plan instanceof PolicyPlan ofPolicies ? ofPolicies.forecast() : Forecast.of(plan.complete(List.of()));
    }

    /// The same of one policy that has a USING, as if it were the only one.
    public static Forecast forecast(CatalogImage catalog, Relation relation, Policy policy) {
        Reading reading = new Reading(catalog, relation, PinnedColumns.NONE, new FoldList());
        return Forecast.of(reading.one(policy));
    }

    private RulePlan plan(
            CatalogImage catalog,
            Relation relation,
            Role role,
            PinnedColumns pinned,
            PolicyComposer.Composition.Policies policies) {
        FoldList folds = new FoldList();
        Reading reading = new Reading(catalog, relation, pinned, folds);
        List<Expression> permissive = reading.all(policies.permissive());
        List<Expression> restrictive = reading.all(policies.restrictive());
        Expression anyPermissive = Connectives.or(permissive);
        List<Policy> evaluated = new ArrayList<>(policies.restrictive());
        if (!literallyTrue(anyPermissive)) {
            evaluated.addAll(policies.permissive());
        }
        String missing = functionWithoutExecute(catalog, role, evaluated);
        if (missing != null) {
            return new SettledPlan(
                    refused(relation, "role \"" + role.name() + "\" may not execute " + missing + ", used to read"));
        }
        String recast = castMadeSince(catalog, evaluated);
        if (recast != null) {
            return new SettledPlan(refused(
                    relation,
                    "policy \"" + recast + "\" casts by text where a cast was made since, and has to be written again"
                            + " to read"));
        }
        List<Expression> required = new ArrayList<>(restrictive);
        required.add(anyPermissive);
        return new PolicyPlan(
                new PolicyPlan.Composed(relation.qualifiedName(), required, folds.folds(), pinned),
                new PolicyPlan.Fallback(
                        probes,
                        new Origin.Question(probeSql(policies, role), columns(evaluated), names(policies)),
                        wording(catalog, policies)));
    }

    /// What every policy of a rule is read with.
    private record Reading(CatalogImage catalog, Relation relation, PinnedColumns pinned, FoldList folds) {
        List<Expression> all(List<Policy> policies) {
            List<Expression> expressions = new ArrayList<>();
            for (Policy policy : policies) {
                expressions.add(one(policy));
            }
            return expressions;
        }

        private Expression one(Policy policy) {
            int major = catalog.dictionary().serverMajor();
            if (major < OLDEST_KNOWN_MAJOR || major > NEWEST_KNOWN_MAJOR) {
                return new Expression.Unsupported("policies of PostgreSQL " + major + " are not evaluated in process");
            }
            String subject = "policy \"" + policy.name() + "\"";
            return new ExpressionReader(catalog, relation, pinned.textByAttnum(), folds, subject).read(tree(policy));
        }
    }

    private static PolicyTree tree(Policy policy) {
        String tree = policy.tree();
        if (tree == null) {
            throw new IllegalStateException("policy without USING");
        }
        return PolicyTree.read(tree);
    }

    private static boolean literallyTrue(Expression expression) {
        return expression instanceof Expression.Constant constant && constant.isTrue();
    }

    /// PostgreSQL refuses the whole query when one function in it may not be executed, whether or
    /// not a row reaches it.
    private static @Nullable String functionWithoutExecute(CatalogImage catalog, Role role, List<Policy> policies) {
        for (Policy policy : policies) {
            for (Integer oid : tree(policy).functions(catalog)) {
                Function function = catalog.function(oid);
                if (function != null && !executable(function, role)) {
                    return "function \"" + function.schema() + "." + function.name() + "\"";
                }
            }
        }
        return null;
    }

    /// A function of the server that the catalog says nothing about is everybody's; one of a user is nobody's.
    private static boolean executable(Function function, Role role) {
        Boolean answer = function.executableByRole().get(role.name());
        return answer != null ? answer : function.builtIn();
    }

    private static List<Integer> columns(List<Policy> policies) {
        Set<Integer> columns = new LinkedHashSet<>();
        for (Policy policy : policies) {
            columns.addAll(tree(policy).columns());
        }
        List<Integer> sorted = new ArrayList<>(columns);
        sorted.sort(null);
        return sorted;
    }

    private static List<String> names(PolicyComposer.Composition.Policies policies) {
        List<String> names = new ArrayList<>();
        policies.permissive().forEach(policy -> names.add(policy.name()));
        policies.restrictive().forEach(policy -> names.add(policy.name()));
        return names;
    }

    private static Meaning.Wording wording(CatalogImage catalog, PolicyComposer.Composition.Policies policies) {
        Set<Function> functions = new LinkedHashSet<>();
        Set<String> permissive = texts(catalog, policies.permissive(), functions);
        return new Meaning.Wording(permissive, texts(catalog, policies.restrictive(), functions), functions);
    }

    private static Set<String> texts(CatalogImage catalog, List<Policy> policies, Set<Function> functions) {
        Set<String> texts = new LinkedHashSet<>();
        for (Policy policy : policies) {
            texts.add(String.valueOf(policy.text()));
            for (Integer oid : tree(policy).functions(catalog)) {
                Function function = catalog.function(oid);
                if (function != null && !function.builtIn()) {
                    functions.add(function.asDefined());
                }
            }
        }
        return texts;
    }

    /// The first policy that PostgreSQL cannot be asked about by its text, which means another cast by now.
    private static @Nullable String castMadeSince(CatalogImage catalog, List<Policy> policies) {
        for (Policy policy : policies) {
            if (tree(policy).meansAnotherCast(catalog)) {
                return policy.name();
            }
        }
        return null;
    }

    /// The composed predicate as PostgreSQL prints its parts.
    private static String probeSql(PolicyComposer.Composition.Policies policies, Role role) {
        StringBuilder sql = new StringBuilder("(");
        String or = "";
        for (Policy policy : policies.permissive()) {
            sql.append(or).append('(').append(policy.textFor(role.name())).append(')');
            or = " OR ";
        }
        sql.append(')');
        for (Policy policy : policies.restrictive()) {
            sql.append(" AND (").append(policy.textFor(role.name())).append(')');
        }
        return sql.toString();
    }

    static Verdict.Refused refused(Relation relation, String why) {
        return refused(relation.qualifiedName(), why);
    }

    static Verdict.Refused refused(String table, String why) {
        return new Verdict.Refused(ErrorCode.SHAPE_NOT_AUTHORIZED, why + " table \"" + table + "\"");
    }
}
