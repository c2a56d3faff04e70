package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.Stamp;

/// The published tables by oid, by name, and those that are partition roots: what every commit asks for is looked up,
/// never searched for. As many as the publication has; owned by the engine's thread.
final class Tables {
    private record Name(String schema, String table) {
        static Name of(Relation relation) {
            return new Name(relation.schema(), relation.name());
        }
    }

    private final Map<Integer, TableState> byOid = new LinkedHashMap<>();
    private final Map<Name, List<TableState>> byName = new LinkedHashMap<>();
    private final Map<Integer, TableState> rootsByOid = new LinkedHashMap<>();

    @Nullable
    TableState table(int oid) {
        return byOid.get(oid);
    }

    /// The table with this oid when it is a partition root.
    @Nullable
    TableState root(int oid) {
        return rootsByOid.get(oid);
    }

    Iterable<TableState> all() {
        return byOid.values();
    }

    Iterable<TableState> roots() {
        return rootsByOid.values();
    }

    boolean hasRoots() {
        return !rootsByOid.isEmpty();
    }

    List<Integer> oids() {
        return new ArrayList<>(byOid.keySet());
    }

    /// Every table known by this name: more than one when a table was created anew and the old one is still known.
    List<TableState> named(String schema, String table) {
        return byName.getOrDefault(new Name(schema, table), List.of());
    }

    void add(TableState table) {
        byOid.put(table.relation().oid(), table);
        index(table);
    }

    void remove(TableState table) {
        byOid.remove(table.relation().oid());
        forget(table);
    }

    /// A known table was read again; it may have another name.
    void reloaded(TableState table, Relation relation, Stamp stamp, UnseenCommits unseen) {
        forget(table);
        table.reloaded(relation, stamp, unseen);
        index(table);
    }

    private void index(TableState table) {
        Relation relation = table.relation();
        byName.computeIfAbsent(Name.of(relation), _ -> new ArrayList<>(1)).add(table);
        if (relation.kind() == Relation.Kind.PARTITIONED_TABLE) {
            rootsByOid.put(relation.oid(), table);
        }
    }

    private void forget(TableState table) {
        Name name = Name.of(table.relation());
        List<TableState> namesakes = byName.get(name);
        if (namesakes != null) {
            namesakes.remove(table);
            if (namesakes.isEmpty()) {
                byName.remove(name);
            }
        }
        rootsByOid.remove(table.relation().oid());
    }
}
