package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonString;
import sluice.core.value.PgType;

/// The columns of one table that a subscription may see, in the order events name them.
///
/// Nothing outside it is ever written. Two projections are equal when they would write every row alike, so an event
/// is encoded once for all subscriptions with equal ones. Immutable.
public final class Projection {
    /// One projected column.
    ///
    /// @param attnum of the catalog, which the tuple's position is looked up by
    public record Entry(int attnum, String name, PgType type, Part part) {}

    /// Whether a column names the row to a client.
    public enum Part {
        /// Kept when a change is too large to be sent whole.
        KEY,
        OTHER
    }

    private final List<Entry> entries;
    private final byte[][] names;
    private final int hash;

    public Projection(List<Entry> entries) {
        this.entries = List.copyOf(entries);
        this.names = new byte[entries.size()][];
        for (int i = 0; i < names.length; i++) {
            names[i] = JsonString.quoted(entries.get(i).name());
        }
        this.hash = this.entries.hashCode();
    }

    /// The given columns of a table, in the table's order.
    ///
    /// @param attnums requested and granted; any the table does not have is left out
    public static Projection of(Relation relation, List<Integer> attnums, CatalogImage catalog) {
        List<Integer> key = relation.keyColumns();
        List<Entry> entries = new ArrayList<>();
        for (Column column : relation.columns()) {
            if (attnums.contains(column.attnum())) {
                Part part = key.contains(column.attnum()) ? Part.KEY : Part.OTHER;
                entries.add(new Entry(column.attnum(), column.name(), catalog.type(column.typeOid()), part));
            }
        }
        return new Projection(entries);
    }

    public int size() {
        return names.length;
    }

    public List<Entry> entries() {
        return entries;
    }

    /// @param index from 0, in order
    public Entry entry(int index) {
        return entries.get(index);
    }

    /// The column's name as a JSON string.
    public void writeName(int index, ByteSink out) {
        out.put(names[index]);
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof Projection projection
                        && hash == projection.hash
                        && entries.equals(projection.entries));
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return "Projection" + entries.stream().map(Entry::name).toList();
    }
}
