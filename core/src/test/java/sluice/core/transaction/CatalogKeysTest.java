package sluice.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Index;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Stamp;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

class CatalogKeysTest {
    private static final int TEXT = 25;

    private final CatalogKeys keys = new CatalogKeys();

    @BeforeEach
    void a_table_with_its_key_last() {
        keys.use(catalogOf(2, "label", "key"));
    }

    /// One table with replica identity FULL.
    ///
    /// @param key attnum of its primary key
    static CatalogImage catalogOf(int key, String... names) {
        List<Column> columns = new ArrayList<>();
        for (String name : names) {
            columns.add(column(columns.size() + 1, name));
        }
        Relation relation = new Relation(
                1,
                "public",
                "t1",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.OFF,
                new ReplicaIdentity.Full(),
                columns,
                List.of(new Index("t1_pkey", List.of(key), Index.Kind.PRIMARY_IMMEDIATE, Index.Coverage.ALL_ROWS)),
                List.of(),
                Map.of(),
                new PublishedTable(null, EnumSet.allOf(PublishedTable.Action.class), null),
                "",
                "",
                new Relation.Feed("", "", Map.of()));
        return new CatalogImage(
                new Stamp(new TransactionSnapshot(3, 3, List.of()), Lsn.ZERO),
                List.of(relation),
                new CatalogImage.Dictionary(18, Map.of(), Map.of(), Map.of(), Map.of(), Map.of()));
    }

    private static Column column(int attnum, String name) {
        return new Column(attnum, name, TEXT, -1, Column.Nullability.NOT_NULL, Column.Generation.NONE, 0);
    }

    @Test
    void under_full_the_primary_key_tells_rows_apart() {
        assertThat(keys.keyPositions(Rows.relation(1, 'f', "label", "key"))).containsExactly(1);
    }

    /// Written while the two had each other's name: what is called the key there need not be unique.
    @Test
    void a_key_whose_name_another_column_had_tells_nothing_apart_so_the_whole_row_does() {
        assertThat(keys.keyPositions(Rows.relation(1, 'f', "key", "label"))).isEmpty();
    }
}
