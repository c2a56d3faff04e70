package sluice.core.diagnostics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.authorization.Forecast;
import sluice.core.authorization.PolicyComposer;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;

/// What the catalog alone says: a tier for every published table and role, by the planning the server itself does,
/// and what should be changed.
///
/// @param tables by table in the catalog's order, then by role in the order asked
/// @param findings worst first
public record Diagnosis(List<Outlook> tables, List<Finding> findings) {
    public Diagnosis {
        tables = List.copyOf(tables);
        findings = List.copyOf(findings);
    }

    /// @param roles by name; those the catalog does not know are left out
    public static Diagnosis of(CatalogImage catalog, List<String> roles) {
        List<Role> known = new ArrayList<>();
        for (String name : roles) {
            Role role = catalog.role(name);
            if (role != null) {
                known.add(role);
            }
        }
        List<Outlook> tables = new ArrayList<>();
        List<Finding> findings = new ArrayList<>();
        for (Relation relation : catalog.relations()) {
            TableFindings.add(catalog, relation, findings);
            Map<Policy, Deciding> deciding = new LinkedHashMap<>();
            for (Role role : known) {
                tables.add(outlook(catalog, relation, role, deciding));
            }
            deciding.forEach(
                    (policy, decides) -> new PolicyFindings(catalog, relation, known).add(policy, decides, findings));
        }
        return new Diagnosis(tables, worstFirst(findings));
    }

    /// What is to be said of one table's replica identity.
    public static List<Finding> ofIdentity(CatalogImage catalog, Relation relation) {
        List<Finding> findings = new ArrayList<>();
        TableFindings.add(catalog, relation, findings);
        return findings;
    }

    /// Findings of equal severity keep their order.
    public static List<Finding> worstFirst(List<Finding> findings) {
        List<Finding> sorted = new ArrayList<>(findings);
        sorted.sort(Comparator.comparing(Finding::severity));
        return List.copyOf(sorted);
    }

    /// What a policy does to the rules it is part of.
    enum Deciding {
        /// Each of them is decided in process all the same, or refused.
        CHEAPLY,
        /// One of them costs a query for each change, and by itself the policy would too.
        BY_QUERY
    }

    /// @param deciding takes the policies of the rule
    private static Outlook outlook(CatalogImage catalog, Relation relation, Role role, Map<Policy, Deciding> deciding) {
        Forecast rule = forecast(catalog, relation, role);
        List<Outlook.OfPolicy> policies = new ArrayList<>();
        if (PolicyComposer.compose(relation, role) instanceof PolicyComposer.Composition.Policies composed) {
            List<Policy> all = new ArrayList<>(composed.permissive());
            all.addAll(composed.restrictive());
            all.sort(Comparator.comparing(Policy::name));
            for (Policy policy : all) {
                Forecast alone = RlsResolver.forecast(catalog, relation, policy);
                policies.add(new Outlook.OfPolicy(policy.name(), alone));
                boolean slow = rule.tier() == Tier.C && alone.tier() == Tier.C;
                deciding.merge(policy, slow ? Deciding.BY_QUERY : Deciding.CHEAPLY, Diagnosis::worse);
            }
        }
        return new Outlook(relation.qualifiedName(), role.name(), rule.tier(), rule.reason(), policies);
    }

    private static Deciding worse(Deciding left, Deciding right) {
        return left == Deciding.BY_QUERY ? left : right;
    }

    /// What a subscription is refused for before its policies are looked at, or what those say.
    private static Forecast forecast(CatalogImage catalog, Relation relation, Role role) {
        String table = "table \"" + relation.qualifiedName() + "\"";
        if (!relation.isServed()) {
            return new Forecast(
                    null,
                    table
                            + " is not published with all of insert, update, delete and truncate, or its replica"
                            + " identity is NOTHING");
        }
        Grants grants = relation.grants(role.name());
        if (grants.schemaUsage() == Grants.SchemaUsage.MISSING) {
            return new Forecast(
                    null, "role \"" + role.name() + "\" has no USAGE on schema \"" + relation.schema() + "\"");
        }
        if (grants.selectColumns().isEmpty()) {
            return new Forecast(null, "role \"" + role.name() + "\" may read no column of " + table);
        }
        return new RlsResolver(ProbePermission.ALLOW).forecast(catalog, relation, role);
    }
}
