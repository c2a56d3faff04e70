package sluice.core.pgoutput;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Column;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;

/// Which value of a row is that of a column, when catalog and stream are of two moments.
class ColumnMappingTest {
    private static final int UUID = 2950;
    private static final int INT = 23;

    @Test
    void a_name_that_moved_to_another_column_of_its_type_is_no_longer_known() {
        Relation catalog = relation(
                null,
                column(1, "id", INT),
                column(2, "owner", UUID),
                column(3, "editor", UUID),
                column(4, "size", INT));

        // written while the two had swapped their names
        ColumnMapping swapped = ColumnMapping.of(sent("id", INT, "editor", UUID, "owner", UUID, "size", INT), catalog);
        assertThat(positions(swapped, 1, 2, 3, 4)).containsExactly(0, -1, -1, 3);

        // written while one had another name and the other had its name
        ColumnMapping lent = ColumnMapping.of(sent("id", INT, "lent", UUID, "owner", UUID, "size", INT), catalog);
        assertThat(positions(lent, 1, 2, 3, 4)).containsExactly(0, -1, -1, 3);
    }

    @Test
    void a_column_added_since_and_one_renamed_since_hide_themselves_alone() {
        Relation catalog = relation(
                null, column(1, "id", INT), column(3, "renamed", INT), column(4, "owner", UUID), column(5, "new", INT));

        ColumnMapping mapping = ColumnMapping.of(sent("id", INT, "former", INT, "owner", UUID), catalog);

        assertThat(positions(mapping, 1, 3, 4, 5)).containsExactly(0, -1, 2, -1);
    }

    @Test
    void what_comes_after_a_column_dropped_since_is_not_known() {
        Relation catalog = relation(null, column(1, "id", INT), column(3, "owner", UUID));

        ColumnMapping mapping = ColumnMapping.of(sent("id", INT, "dropped", UUID, "owner", UUID), catalog);

        assertThat(positions(mapping, 1, 3)).containsExactly(0, -1);
    }

    @Test
    void columns_that_the_stream_leaves_out_take_no_place() {
        Relation catalog = relation(
                List.of("id", "owner", "twice"),
                column(1, "id", INT),
                column(2, "secret", INT),
                new Column(3, "twice", INT, -1, Column.Nullability.NULLABLE, Column.Generation.STORED, 0),
                column(4, "owner", UUID));

        assertThat(positions(ColumnMapping.of(sent("id", INT, "owner", UUID), catalog), 1, 2, 3, 4))
                .containsExactly(0, -1, -1, 1);
        assertThat(positions(ColumnMapping.of(sent("id", INT, "twice", INT, "owner", UUID), catalog), 1, 2, 3, 4))
                .containsExactly(0, -1, 1, 2);
    }

    @Test
    void a_column_in_the_name_and_the_place_of_one_dropped_since_is_told_from_it_by_when_it_was_written() {
        Relation before = relation(null, column(1, "id", INT), column(2, "a", INT), column(3, "b", INT));
        Relation renamed = relation(null, column(1, "id", INT), column(3, "a", INT), column(4, "b", INT));
        assertThat(renamed.renewedSince(before)).containsExactly(3, 4);
        // the definition is the same, letter by letter
        ColumnMapping mapping = ColumnMapping.of(sent("id", INT, "a", INT, "b", INT), renamed);
        assertThat(positions(mapping, 1, 3, 4)).containsExactly(0, 1, 2);
        assertThat(positions(mapping.without(renamed.renewedSince(before)), 1, 3, 4))
                .containsExactly(0, -1, -1);

        // a column that has its name throughout has its own place or none
        Relation dropped = relation(null, column(1, "id", INT), column(3, "b", INT));
        assertThat(dropped.renewedSince(before)).isEmpty();
        // and where none was dropped before it, another name changes nothing
        Relation other = relation(null, column(1, "id", INT), column(2, "b", INT), column(3, "a", INT));
        assertThat(other.renewedSince(before)).isEmpty();
        // one that came and went in between leaves a gap
        Relation gap =
                relation(null, column(1, "id", INT), column(2, "a", INT), column(3, "b", INT), column(5, "c", INT));
        assertThat(gap.renewedSince(before)).containsExactly(5);
    }

    private static List<Integer> positions(ColumnMapping mapping, int... attnums) {
        List<Integer> positions = new ArrayList<>();
        for (int attnum : attnums) {
            positions.add(mapping.position(attnum));
        }
        return positions;
    }

    private static Column column(int attnum, String name, int typeOid) {
        return new Column(attnum, name, typeOid, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, 0);
    }

    /// @param namesAndTypes a name, its type, the next name
    private static RelationDefinition sent(Object... namesAndTypes) {
        List<RelationDefinition.Column> columns = new ArrayList<>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            columns.add(new RelationDefinition.Column(
                    (String) namesAndTypes[i], (Integer) namesAndTypes[i + 1], -1, false));
        }
        return new RelationDefinition(1, "public", "t", 'f', columns);
    }

    private static Relation relation(@Nullable List<String> listed, Column... columns) {
        return new Relation(
                1,
                "public",
                "t",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Full(),
                List.of(columns),
                List.of(),
                List.of(),
                Map.of(),
                new PublishedTable(listed, java.util.EnumSet.allOf(PublishedTable.Action.class), null),
                "",
                "",
                new Relation.Feed("", "", Map.of()));
    }
}
