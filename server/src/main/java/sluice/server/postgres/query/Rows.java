package sluice.server.postgres.query;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Statements sent in one round trip, and their answers as text.
final class Rows {
    private Rows() {}

    /// One row; columns count from 0.
    record Row(List<@Nullable String> values) {
        @Nullable
        String textOrNull(int column) {
            return values.get(column);
        }

        String text(int column) {
            String value = values.get(column);
            if (value == null) {
                throw new IllegalStateException("column " + column + " of a catalog query is null");
            }
            return value;
        }

        int oid(int column) {
            return Integer.parseUnsignedInt(text(column));
        }

        int number(int column) {
            return Integer.parseInt(text(column));
        }

        boolean flag(int column) {
            return text(column).equals("t");
        }

        char letter(int column) {
            String value = text(column);
            return value.isEmpty() ? ' ' : value.charAt(0);
        }

        /// A list that `array_to_string(..., ' ')` or an int2vector printed.
        List<Integer> numbers(int column) {
            List<Integer> numbers = new ArrayList<>();
            for (String part : text(column).split(" ", -1)) {
                if (!part.isEmpty()) {
                    numbers.add((int) Long.parseLong(part));
                }
            }
            return numbers;
        }
    }

    /// Runs one or more statements separated by `;` in one round trip.
    ///
    /// @param parameters for the `?` of all statements together
    /// @return one list for each statement that returned rows
    static List<List<Row>> run(Connection connection, String sql, List<@Nullable String> parameters)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setEscapeProcessing(false);
            for (int i = 0; i < parameters.size(); i++) {
                statement.setString(i + 1, parameters.get(i));
            }
            return answers(statement, statement.execute());
        }
    }

    /// The same without parameters: a `?` in the text is PostgreSQL's operator.
    static List<List<Row>> run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            return answers(statement, statement.execute(sql));
        }
    }

    private static List<List<Row>> answers(Statement statement, boolean first) throws SQLException {
        List<List<Row>> answers = new ArrayList<>();
        boolean rows = first;
        while (rows || statement.getUpdateCount() != -1) {
            if (rows) {
                answers.add(read(statement.getResultSet()));
            }
            rows = statement.getMoreResults();
        }
        return answers;
    }

    private static List<Row> read(ResultSet result) throws SQLException {
        int width = result.getMetaData().getColumnCount();
        List<Row> rows = new ArrayList<>();
        while (result.next()) {
            List<@Nullable String> values = new ArrayList<>(width);
            for (int i = 1; i <= width; i++) {
                values.add(result.getString(i));
            }
            rows.add(new Row(Collections.unmodifiableList(values)));
        }
        return rows;
    }
}
