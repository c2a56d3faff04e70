package sluice.server.function;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.datum.NumberTypes;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// The shortest digits of floating-point numbers, where they are hardest to find.
class FloatTextPgTest {
    private static final int NUMBERS = Integer.getInteger("sluice.calls", 60) * 200;

    private final Random random = new Random(20_261_129);

    @Test
    void doubles_are_printed_as_postgresql_prints_them() {
        List<String> spelled = new ArrayList<>();
        List<String> printed = new ArrayList<>();
        for (int i = 0; i < NUMBERS; i++) {
            double value = switch (i % 5) {
                case 0 -> Double.longBitsToDouble(random.nextLong());
                case 1 -> Math.scalb(1.0, random.nextInt(2100) - 1075);
                case 2 -> i * Double.MIN_VALUE;
                case 3 -> Double.parseDouble(random.nextInt(10_000) + "e" + (random.nextInt(640) - 330));
                // Halfway between two doubles where it has few digits.
                default ->
                    new BigDecimal(Math.scalb((double) (random.nextInt(1 << 20) * 2 + 1), 53))
                            .multiply(new BigDecimal(random.nextInt(1 << 10) * 2 + 1))
                            .doubleValue();
            };
            if (Double.isFinite(value)) {
                spelled.add(Double.toString(value));
                printed.add(NumberTypes.FLOAT8.print(value));
            }
        }
        compare("float8", spelled, printed);
    }

    @Test
    void floats_are_printed_as_postgresql_prints_them() {
        List<String> spelled = new ArrayList<>();
        List<String> printed = new ArrayList<>();
        for (int i = 0; i < NUMBERS; i++) {
            float value = switch (i % 4) {
                case 0 -> Float.intBitsToFloat(random.nextInt());
                case 1 -> Math.scalb(1.0f, random.nextInt(278) - 150);
                case 2 -> i * Float.MIN_VALUE;
                default -> Float.parseFloat(random.nextInt(10_000) + "e" + (random.nextInt(80) - 45));
            };
            if (Float.isFinite(value)) {
                spelled.add(Float.toString(value));
                printed.add(NumberTypes.FLOAT4.print(value));
            }
        }
        compare("float4", spelled, printed);
    }

    private static void compare(String type, List<String> spelled, List<String> printed) {
        List<String> theirs = new ArrayList<>();
        try (PostgresDatabase database =
                PostgresCluster.of(PostgresCluster.NEWEST).createDatabase("float_text")) {
            for (List<@Nullable String> row : database.rows(
                    "SELECT format('%s', v::" + type
                            + ") FROM unnest(?::text[]) WITH ORDINALITY AS given(v, n) ORDER BY n",
                    (Object) spelled.toArray(String[]::new))) {
                theirs.add(String.valueOf(row.getFirst()));
            }
        }
        assertThat(printed).isEqualTo(theirs);
    }
}
