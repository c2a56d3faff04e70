package sluice.core.transaction;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

/// Tuples as short lists of text and back. NULL, unchanged and not sent have spellings of their own.
final class Rows {
    static final String NULL = "<null>";
    static final String UNCHANGED = "<unchanged>";
    static final String NOT_SENT = "<not sent>";

    private Rows() {}

    /// Columns of type text; a name that ends in `*` is in the replica identity.
    static RelationDefinition relation(int oid, char identity, String... columns) {
        List<RelationDefinition.Column> list = new ArrayList<>();
        for (String column : columns) {
            boolean key = column.endsWith("*");
            String name = key ? column.substring(0, column.length() - 1) : column;
            list.add(new RelationDefinition.Column(name, 25, -1, key || identity == 'f'));
        }
        return new RelationDefinition(oid, "public", "t" + oid, identity, list);
    }

    static Tuple tuple(String... values) {
        return tuple(List.of(values));
    }

    static Tuple tuple(List<String> values) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Tuple.Kind[] kinds = new Tuple.Kind[values.size()];
        int[] offsets = new int[kinds.length];
        int[] lengths = new int[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = switch (values.get(i)) {
                case NULL -> Tuple.Kind.NULL;
                case UNCHANGED -> Tuple.Kind.UNCHANGED;
                case NOT_SENT -> Tuple.Kind.NOT_SENT;
                default -> Tuple.Kind.TEXT;
            };
            if (kinds[i] == Tuple.Kind.TEXT) {
                byte[] text = values.get(i).getBytes(StandardCharsets.UTF_8);
                offsets[i] = bytes.size();
                lengths[i] = text.length;
                bytes.writeBytes(text);
            }
        }
        return new Tuple(bytes.toByteArray(), kinds, offsets, lengths);
    }

    static List<String> values(@Nullable Tuple tuple) {
        List<String> values = new ArrayList<>();
        if (tuple == null) {
            return values;
        }
        for (int i = 0; i < tuple.columnCount(); i++) {
            values.add(
                    switch (tuple.kind(i)) {
                        case TEXT -> tuple.text(i);
                        case NULL -> NULL;
                        case UNCHANGED -> UNCHANGED;
                        case NOT_SENT -> NOT_SENT;
                    });
        }
        return values;
    }

    /// One line for a change, e.g. `UPDATE t1 [1, <not sent>] -> [2, b]`.
    static String print(Change change) {
        String table = " " + change.relation().name() + " ";
        return switch (change) {
            case Change.Insert(var relation, var row) -> "INSERT" + table + values(row);
            case Change.Update(var relation, var old, var row) ->
                "UPDATE" + table + (old == null ? "" : values(old) + " -> ") + values(row);
            case Change.Delete(var relation, var old) -> "DELETE" + table + values(old);
            case Change.Truncate(var relation) -> "TRUNCATE " + relation.name();
        };
    }

    static List<String> print(List<Change> changes) {
        List<String> lines = new ArrayList<>();
        for (Change change : changes) {
            lines.add(print(change));
        }
        return lines;
    }
}
