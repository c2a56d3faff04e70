package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import sluice.core.datum.ValueType;
import sluice.testkit.PostgresDatabase;

/// Sample values in the spelling the log has, which is the server's: read in process, and printed back the same.
final class CanonicalValues {
    private final PostgresDatabase database;
    private final Map<String, Object> values = new HashMap<>();

    CanonicalValues(PostgresDatabase database) {
        this.database = database;
    }

    int major() {
        return database.cluster().major();
    }

    /// @param sample a literal of the type, without quotes around it
    Object value(ValueType<?> type, String sample) {
        return values.computeIfAbsent(type.sqlName() + " " + sample, _ -> {
            String printed =
                    String.valueOf(database.value("SELECT format('%s', '" + sample + "'::" + type.sqlName() + ")"));
            Object value = type.parse(printed);
            assertThat(type.text(value)).as("the text of %s '%s'", type, sample).isEqualTo(printed);
            return value;
        });
    }
}
