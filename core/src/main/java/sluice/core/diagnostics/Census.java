package sluice.core.diagnostics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.event.SubscriptionResult.Indexing;

/// What was open at one moment, and the catalog that was gone by.
///
/// @param groups subscriptions of one table, tier and way of being found; each once
/// @param blindness why it is not learnt which sessions end, null where it is, or where none ever do
public record Census(
        CatalogImage catalog,
        int streams,
        List<Group> groups,
        @Nullable Blindness blindness) {
    public Census {
        groups = List.copyOf(groups);
    }

    /// A table whose changes do not say who may no longer be served.
    ///
    /// @param table `schema.table`
    /// @param remedy the SQL that would make them say so
    public record Blindness(String table, String reason, String remedy) {}

    /// @param table `schema.table`
    /// @param subscriptions at least 1
    public record Group(String table, Tier tier, Indexing indexing, int subscriptions) {}

    public int subscriptions() {
        return groups.stream().mapToInt(Group::subscriptions).sum();
    }

    public int subscriptions(Tier tier) {
        return groups.stream()
                .filter(group -> group.tier() == tier)
                .mapToInt(Group::subscriptions)
                .sum();
    }

    public int unindexed() {
        return groups.stream()
                .filter(group -> group.indexing() == Indexing.UNINDEXED)
                .mapToInt(Group::subscriptions)
                .sum();
    }

    /// Tables subscribed to.
    public int relations() {
        return Math.toIntExact(groups.stream().map(Group::table).distinct().count());
    }

    /// What is to be said of the subscriptions, table by table.
    public List<Finding> findings() {
        Map<String, Integer> probed = new LinkedHashMap<>();
        Map<String, Integer> unindexed = new LinkedHashMap<>();
        for (Group group : groups) {
            if (group.tier() == Tier.C) {
                probed.merge(group.table(), group.subscriptions(), Integer::sum);
            }
            if (group.indexing() == Indexing.UNINDEXED) {
                unindexed.merge(group.table(), group.subscriptions(), Integer::sum);
            }
        }
        List<Finding> findings = new ArrayList<>();
        Blindness blind = blindness;
        if (blind != null) {
            findings.add(Finding.of(
                    Finding.Code.REVOCATIONS_UNSEEN,
                    blind.table(),
                    null,
                    new Finding.Text(blind.reason(), "nobody with a session or a subject is served", blind.remedy())));
        }
        probed.forEach((table, count) -> findings.add(Finding.of(
                Finding.Code.TIER_C_SUBSCRIPTIONS,
                table,
                null,
                new Finding.Text(
                        counted(count, "open subscription") + " of Tier C",
                        "each asks PostgreSQL about each change of the table; past the bounds they are withheld",
                        "rewrite the policies that tier_c_policy names, or set SLUICE_TIER_C=deny"))));
        unindexed.forEach((table, count) -> findings.add(Finding.of(
                Finding.Code.UNINDEXED_SHAPE,
                table,
                null,
                new Finding.Text(
                        counted(count, "open shape") + " without an eq or in term to be found by",
                        "each is looked at on each change of the table",
                        "add such a term to the filter in the client, best on an indexed column"))));
        return findings;
    }

    private static String counted(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
