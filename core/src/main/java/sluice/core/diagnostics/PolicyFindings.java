package sluice.core.diagnostics;

import java.util.ArrayList;
import java.util.List;
import sluice.core.authorization.Forecast;
import sluice.core.authorization.RlsResolver;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Index;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Role;
import sluice.core.expression.PolicyTree;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// What is to be said of a table's policies that decide what somebody reads.
final class PolicyFindings {
    /// Built-in types an index of the usual kind serves equality and order of. Not bool: half a table is no search.
    private static final List<Integer> INDEXABLE = List.of(
            Oid.INT2,
            Oid.INT4,
            Oid.INT8,
            Oid.OID,
            Oid.NUMERIC,
            Oid.TEXT,
            Oid.VARCHAR,
            Oid.BPCHAR,
            Oid.NAME,
            Oid.UUID,
            Oid.DATE,
            Oid.TIMESTAMP,
            Oid.TIMESTAMPTZ);

    private final CatalogImage catalog;
    private final Relation relation;
    private final List<Role> roles;

    /// @param roles all that are looked at
    PolicyFindings(CatalogImage catalog, Relation relation, List<Role> roles) {
        this.catalog = catalog;
        this.relation = relation;
        this.roles = roles;
    }

    void add(Policy policy, Diagnosis.Deciding deciding, List<Finding> findings) {
        String text = policy.tree();
        if (text == null) {
            return;
        }
        PolicyTree tree = PolicyTree.read(text);
        if (!tree.isReadable()) {
            unparseable(policy, findings);
        } else if (deciding == Diagnosis.Deciding.BY_QUERY) {
            tierC(policy, findings);
        }
        appliesToPublic(policy, findings);
        notWrapped(policy, tree, findings);
        unindexed(policy, tree, findings);
    }

    private void unparseable(Policy policy, List<Finding> findings) {
        Forecast forecast = RlsResolver.forecast(catalog, relation, policy);
        findings.add(finding(
                Finding.Code.POLICY_UNPARSEABLE,
                policy,
                forecast.reason(),
                "each change is asked of PostgreSQL for each subscriber, with the whole row",
                rewritten(policy)));
    }

    private void tierC(Policy policy, List<Finding> findings) {
        Forecast forecast = RlsResolver.forecast(catalog, relation, policy);
        findings.add(finding(
                Finding.Code.TIER_C_POLICY,
                policy,
                forecast.reason(),
                "each change costs one query for each subscriber; deletes, and rows that leave, are withheld",
                rewritten(policy)));
    }

    private String rewritten(Policy policy) {
        return alter(policy) + " USING (...); -- an expression over the row's own columns and the caller's claims";
    }

    /// A restrictive policy is best for everybody: a TO list would let others past it.
    private void appliesToPublic(Policy policy, List<Finding> findings) {
        if (policy.mode() != Policy.Mode.PERMISSIVE || !policy.roles().contains(0)) {
            return;
        }
        List<String> readers = new ArrayList<>();
        for (Role role : roles) {
            if (role.bypass() == Role.Bypass.NONE) {
                readers.add(SqlNames.quoted(role.name()));
            }
        }
        if (readers.isEmpty()) {
            return;
        }
        findings.add(finding(
                Finding.Code.POLICY_APPLIES_TO_PUBLIC,
                policy,
                "it has no TO list, so it is evaluated for every role",
                "a role that was not thought of may read by it, and every role pays for it",
                alter(policy) + " TO " + String.join(", ", readers) + "; -- less the roles that shall not read by it"));
    }

    private void notWrapped(Policy policy, PolicyTree tree, List<Finding> findings) {
        List<Function> functions = new ArrayList<>();
        for (int oid : tree.callsForEachRow(catalog)) {
            Function function = catalog.function(oid);
            if (function != null) {
                functions.add(function);
            }
        }
        if (functions.isEmpty()) {
            return;
        }
        List<String> names = functions.stream()
                .map(function ->
                        function.builtIn() ? function.name() + "()" : function.schema() + "." + function.name() + "()")
                .toList();
        String wrapped = policy.text() == null ? null : WrappedCalls.in(policy.text(), functions);
        findings.add(finding(
                Finding.Code.POLICY_FUNCTION_NOT_WRAPPED,
                policy,
                "it calls " + String.join(", ", names) + " outside a sub-select",
                "PostgreSQL may call it once for each row it reads; here both spellings are the same",
                wrapped == null
                        ? alter(policy) + " USING (...); -- with (SELECT " + names.getFirst() + ")"
                        : alter(policy) + " USING (" + wrapped + ");"));
    }

    private void unindexed(Policy policy, PolicyTree tree, List<Finding> findings) {
        for (int attnum : tree.columns()) {
            Column column = relation.column(attnum);
            if (column != null && isIndexable(column) && !leadsAnIndex(attnum)) {
                String table = SqlNames.of(relation);
                String how = relation.kind() == Relation.Kind.PARTITIONED_TABLE ? "" : "CONCURRENTLY ";
                findings.add(finding(
                        Finding.Code.UNINDEXED_POLICY_COLUMN,
                        policy,
                        "no index begins with column \"" + column.name() + "\", which it reads",
                        "PostgreSQL reads the whole table to find a caller's rows",
                        "CREATE INDEX " + how + "ON " + table + " (" + SqlNames.quoted(column.name()) + ");"));
            }
        }
    }

    private boolean isIndexable(Column column) {
        if (column.generation() == Column.Generation.VIRTUAL) {
            return false;
        }
        PgType type = catalog.type(column.typeOid()).undomained();
        return type instanceof PgType.Enumeration || INDEXABLE.contains(type.oid());
    }

    private boolean leadsAnIndex(int attnum) {
        for (Index index : relation.indexes()) {
            if (index.partial() == Index.Coverage.ALL_ROWS && index.columns().getFirst() == attnum) {
                return true;
            }
        }
        return false;
    }

    private String alter(Policy policy) {
        return "ALTER POLICY " + SqlNames.quoted(policy.name()) + " ON " + SqlNames.of(relation);
    }

    private Finding finding(Finding.Code code, Policy policy, String reason, String impact, String remedy) {
        return Finding.of(code, relation.qualifiedName(), policy.name(), new Finding.Text(reason, impact, remedy));
    }
}
