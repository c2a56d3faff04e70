package sluice.core.value;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a slot holds of one table: the column types as the stream names them, and each inserted row's texts.
///
/// Reads just enough of pgoutput, apart from the product's own decoder.
///
/// @param rows for each row, the bytes of each column; null for NULL
record LoggedRows(List<Integer> typeOids, List<byte[] @Nullable []> rows) {
    static LoggedRows peek(Connection connection, String slot, String publication, String table) throws SQLException {
        List<Integer> typeOids = new ArrayList<>();
        List<byte[] @Nullable []> rows = new ArrayList<>();
        int wanted = 0;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT data FROM pg_logical_slot_peek_binary_changes('" + slot
                        + "', NULL, NULL, 'proto_version', '1', 'publication_names', '" + publication + "')")) {
            while (row.next()) {
                ByteBuffer message = ByteBuffer.wrap(row.getBytes(1));
                byte kind = message.get();
                if (kind == 'R') {
                    int oid = message.getInt();
                    string(message);
                    if (string(message).equals(table)) {
                        wanted = oid;
                        columns(message, typeOids);
                    }
                } else if (kind == 'I' && message.getInt() == wanted) {
                    rows.add(tuple(message));
                }
            }
        }
        return new LoggedRows(typeOids, rows);
    }

    private static void columns(ByteBuffer message, List<Integer> typeOids) {
        message.get();
        int count = message.getShort();
        typeOids.clear();
        for (int i = 0; i < count; i++) {
            message.get();
            string(message);
            typeOids.add(message.getInt());
            message.getInt();
        }
    }

    private static byte[] @Nullable [] tuple(ByteBuffer message) {
        message.get();
        byte[] @Nullable [] values = new byte[message.getShort()][];
        for (int i = 0; i < values.length; i++) {
            if (message.get() == 't') {
                values[i] = new byte[message.getInt()];
                message.get(values[i]);
            }
        }
        return values;
    }

    private static String string(ByteBuffer message) {
        var text = new ByteArrayOutputStream();
        for (byte unit = message.get(); unit != 0; unit = message.get()) {
            text.write(unit);
        }
        return text.toString(StandardCharsets.UTF_8);
    }
}
