package sluice.core.pgoutput;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;

/// Where a tuple keeps each catalog column: attribute numbers to tuple positions, matched by place, name and type.
///
/// Both list columns in the order of their attribute numbers. A column counts as the same only at its own place: a
/// name alone may have moved to another column and back since, and a row would be judged by the wrong value. Name and
/// place together may have been those of a column that was dropped since, which {@link Relation#renewedSince} tells
/// and {@link #without} leaves out.
///
/// The definition in the stream wins. A catalog column the stream does not define the same way has no position, and
/// whatever needs it is undecidable (consistency rule 14).
public final class ColumnMapping {
    /// Answer for a column without a position in the tuple.
    public static final int ABSENT = -1;

    private final int[] positionByAttnum;

    private ColumnMapping(int[] positionByAttnum) {
        this.positionByAttnum = positionByAttnum;
    }

    public static ColumnMapping of(RelationDefinition definition, Relation relation) {
        int highest = 0;
        for (Column column : relation.columns()) {
            highest = Math.max(highest, column.attnum());
        }
        int[] positions = new int[highest + 1];
        java.util.Arrays.fill(positions, ABSENT);
        int next = 0;
        for (Column column : inOrder(relation)) {
            boolean same = next < definition.columns().size()
                    && isSame(definition.columns().get(next), column);
            if (same) {
                positions[column.attnum()] = next;
            }
            if (same || isExpected(column, relation.published())) {
                next++;
            }
        }
        return new ColumnMapping(positions);
    }

    private static List<Column> inOrder(Relation relation) {
        List<Column> columns = new ArrayList<>(relation.columns());
        columns.sort(Comparator.comparingInt(Column::attnum));
        return columns;
    }

    private static boolean isSame(RelationDefinition.Column sent, Column column) {
        return sent.name().equals(column.name()) && sent.typeOid() == column.typeOid();
    }

    /// Whether the stream has the column unless its definition is of another moment than the catalog.
    private static boolean isExpected(Column column, @Nullable PublishedTable published) {
        List<String> listed = published == null ? null : published.columns();
        return column.generation() == Column.Generation.NONE && (listed == null || listed.contains(column.name()));
    }

    /// The mapping of tuples that hold these columns in this order and no other.
    public static ColumnMapping ofSelected(List<Integer> attnums) {
        int highest = 0;
        for (int attnum : attnums) {
            highest = Math.max(highest, attnum);
        }
        int[] positions = new int[highest + 1];
        java.util.Arrays.fill(positions, ABSENT);
        for (int i = 0; i < attnums.size(); i++) {
            positions[attnums.get(i)] = i;
        }
        return new ColumnMapping(positions);
    }

    /// The same where these columns have no position.
    public ColumnMapping without(Collection<Integer> attnums) {
        int[] positions = positionByAttnum.clone();
        for (int attnum : attnums) {
            if (attnum < positions.length) {
                positions[attnum] = ABSENT;
            }
        }
        return new ColumnMapping(positions);
    }

    /// A mapping in which every column is absent.
    public static ColumnMapping none() {
        return new ColumnMapping(new int[0]);
    }

    /// The tuple position of an attribute, or {@link #ABSENT}.
    public int position(int attnum) {
        return attnum > 0 && attnum < positionByAttnum.length ? positionByAttnum[attnum] : ABSENT;
    }
}
