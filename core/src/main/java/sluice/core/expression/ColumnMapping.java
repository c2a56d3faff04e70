package sluice.core.expression;

import java.util.List;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.RelationDefinition;

/// Where a tuple keeps each catalog column: attribute numbers to tuple positions, matched by name and type.
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
        for (Column column : relation.columns()) {
            for (int i = 0; i < definition.columns().size(); i++) {
                RelationDefinition.Column sent = definition.columns().get(i);
                if (sent.name().equals(column.name()) && sent.typeOid() == column.typeOid()) {
                    positions[column.attnum()] = i;
                }
            }
        }
        return new ColumnMapping(positions);
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

    /// A mapping in which every column is absent.
    public static ColumnMapping none() {
        return new ColumnMapping(new int[0]);
    }

    /// The tuple position of an attribute, or {@link #ABSENT}.
    public int position(int attnum) {
        return attnum > 0 && attnum < positionByAttnum.length ? positionByAttnum[attnum] : ABSENT;
    }
}
