package sluice.bench.micro;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Projection;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// One table of five columns and one row of it, for all benchmarks: `id`, `room_id`, `author_id`, `visibility`,
/// `body`.
final class Samples {
    static final int ROOM = 2;
    static final int AUTHOR = 3;
    static final int VISIBILITY = 4;
    static final int TABLE_OID = 16_400;

    static final List<String> ROW = List.of(
            "1234567",
            "42",
            "5eed0000-0000-4000-8000-00000000a11c",
            "everyone",
            "the quick brown fox jumps over the lazy dog");

    static final RelationDefinition DEFINITION = new RelationDefinition(
            TABLE_OID,
            "public",
            "messages",
            'd',
            List.of(
                    new RelationDefinition.Column("id", Oid.INT8, -1, true),
                    new RelationDefinition.Column("room_id", Oid.INT8, -1, false),
                    new RelationDefinition.Column("author_id", Oid.UUID, -1, false),
                    new RelationDefinition.Column("visibility", Oid.TEXT, -1, false),
                    new RelationDefinition.Column("body", Oid.TEXT, -1, false)));

    static final ColumnMapping MAPPING = ColumnMapping.of(DEFINITION, relation());

    private Samples() {}

    static Tuple tuple() {
        int columns = ROW.size();
        Tuple.Kind[] kinds = new Tuple.Kind[columns];
        Arrays.fill(kinds, Tuple.Kind.TEXT);
        int[] offsets = new int[columns];
        int[] lengths = new int[columns];
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < columns; i++) {
            offsets[i] = all.length();
            lengths[i] = ROW.get(i).length();
            all.append(ROW.get(i));
        }
        return new Tuple(all.toString().getBytes(StandardCharsets.US_ASCII), kinds, offsets, lengths);
    }

    static RowImage image() {
        return new RowImage(tuple(), MAPPING, Instant.EPOCH);
    }

    static Projection projection() {
        List<Projection.Entry> entries = new ArrayList<>();
        for (Column column : relation().columns()) {
            PgType type = new PgType.Base(column.typeOid(), "a type known by its oid");
            Projection.Part part = column.attnum() == 1 ? Projection.Part.KEY : Projection.Part.OTHER;
            entries.add(new Projection.Entry(column.attnum(), column.name(), type, part));
        }
        return new Projection(entries);
    }

    private static Relation relation() {
        List<Column> columns = new ArrayList<>();
        for (RelationDefinition.Column column : DEFINITION.columns()) {
            columns.add(new Column(
                    columns.size() + 1,
                    column.name(),
                    column.typeOid(),
                    -1,
                    Column.Nullability.NOT_NULL,
                    Column.Generation.NONE,
                    0));
        }
        return new Relation(
                TABLE_OID,
                DEFINITION.schema(),
                DEFINITION.name(),
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Default(List.of(1)),
                columns,
                List.of(),
                List.of(),
                Map.of(),
                null,
                "",
                "",
                new Relation.Feed("", "", Map.of()));
    }
}
