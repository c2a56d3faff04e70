package sluice.core.transaction;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;

/// Keys as the replica identity names them. FULL names every column, so there the immediate primary key of the last
/// catalog handed over tells rows apart, and without one the whole row. The whole row, too, once a column of the
/// key was put in the place of another: the definition of a row does not say which of them it has.
///
/// Used on the reader's thread only, which also hands over new catalogs.
public final class CatalogKeys implements RelationKeys {
    private static final int[] WHOLE_ROW = {};

    private @Nullable CatalogImage catalog;
    private final Set<Integer> replaced = new LinkedHashSet<>();

    /// Takes the catalog that FULL relations are looked up in from now on.
    public void use(CatalogImage newest) {
        CatalogImage before = catalog;
        this.catalog = newest;
        for (Relation relation : newest.relations()) {
            Relation was = before == null ? null : before.relation(relation.oid());
            if (was != null && relation.renewedSince(was).stream().anyMatch(relation.primaryKey()::contains)) {
                replaced.add(relation.oid());
            }
        }
    }

    @Override
    public int[] keyPositions(RelationDefinition relation) {
        return switch (relation.identity()) {
            case 'd', 'i' -> identityColumns(relation);
            case 'f' -> primaryKey(relation);
            default -> WHOLE_ROW;
        };
    }

    private static int[] identityColumns(RelationDefinition relation) {
        List<RelationDefinition.Column> columns = relation.columns();
        int[] positions = new int[columns.size()];
        int count = 0;
        for (int i = 0; i < positions.length; i++) {
            if (columns.get(i).inIdentity()) {
                positions[count++] = i;
            }
        }
        return java.util.Arrays.copyOf(positions, count);
    }

    private int[] primaryKey(RelationDefinition definition) {
        Relation relation = catalog == null ? null : catalog.relation(definition.oid());
        if (relation == null || replaced.contains(definition.oid())) {
            return WHOLE_ROW;
        }
        List<Integer> attnums = relation.primaryKey();
        ColumnMapping mapping = ColumnMapping.of(definition, relation);
        int[] positions = new int[attnums.size()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = mapping.position(attnums.get(i));
            if (positions[i] == ColumnMapping.ABSENT) {
                // the catalog is of another moment than the stream
                return WHOLE_ROW;
            }
        }
        return positions;
    }
}
