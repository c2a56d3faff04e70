package sluice.testkit.seed;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ValuesPgTest {
    private final PostgresDatabase database =
            PostgresCluster.of(PostgresCluster.MAJORS.getFirst()).createDatabase("values");

    @AfterAll
    void close() {
        database.close();
    }

    @Test
    void every_value_is_one_that_postgresql_takes() {
        Map<String, Function<SeededRandom, String>> generators = new LinkedHashMap<>();
        generators.put("int2", Values::int2);
        generators.put("int4", Values::int4);
        generators.put("int8", Values::int8);
        generators.put("numeric", Values::numeric);
        generators.put("float8", Values::float8);
        generators.put("boolean", Values::bool);
        generators.put("uuid", Values::uuid);
        generators.put("timestamptz", Values::timestamptz);
        generators.put("date", Values::date);
        generators.put("interval", Values::interval);
        generators.put("bytea", Values::bytea);
        generators.put("json", random -> Values.json(random, 3));
        Seeds.each(
                60,
                random -> generators.forEach((type, generator) -> {
                    String value = generator.apply(random);
                    assertThat(database.value("SELECT ?::" + type + " IS NOT NULL", value))
                            .as("%s %s", type, value)
                            .isEqualTo("t");
                }));
    }

    @Test
    void text_survives_the_way_to_the_server_and_back() {
        Seeds.each(100, random -> {
            String text = Values.text(random, 8);
            assertThat(database.value("SELECT ?::text", text)).isEqualTo(text);
        });
    }

    @Test
    void identifiers_are_not_cut() {
        Seeds.each(100, random -> {
            String name = Values.identifier(random);
            assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(63);
            assertThat(database.value("SELECT ?::name", name)).isEqualTo(name);
        });
    }
}
