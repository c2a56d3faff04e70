package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// Rows as the log sends them, columns 1, 2, ... of type text.
final class TestRows {
    private TestRows() {}

    /// @param values a text, null for NULL, or a [Tuple.Kind]
    static RowImage of(@Nullable Object... values) {
        Tuple.Kind[] kinds = new Tuple.Kind[values.length];
        int[] offsets = new int[values.length];
        int[] lengths = new int[values.length];
        StringBuilder texts = new StringBuilder();
        List<RelationDefinition.Column> sent = new ArrayList<>();
        List<Column> columns = new ArrayList<>();
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            kinds[i] = value instanceof Tuple.Kind kind ? kind : value == null ? Tuple.Kind.NULL : Tuple.Kind.TEXT;
            if (value instanceof String text) {
                offsets[i] = texts.toString().getBytes(StandardCharsets.UTF_8).length;
                lengths[i] = text.getBytes(StandardCharsets.UTF_8).length;
                texts.append(text);
            }
            sent.add(new RelationDefinition.Column("c" + i, 25, -1, false));
            columns.add(new Column(i + 1, "c" + i, 25, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, 100));
        }
        Relation relation = new Relation(
                1,
                "public",
                "t",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Full(),
                columns,
                List.of(),
                List.of(),
                Map.of(),
                null,
                "",
                "",
                new Relation.Feed("", "", Map.of()));
        Tuple tuple = new Tuple(texts.toString().getBytes(StandardCharsets.UTF_8), kinds, offsets, lengths);
        return new RowImage(
                tuple, ColumnMapping.of(new RelationDefinition(1, "public", "t", 'f', sent), relation), Instant.EPOCH);
    }
}
