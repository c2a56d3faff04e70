package sluice.core.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.expression.EqualTexts;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;

class RoutingIndexTest {
    private static final int TEXT = 25;
    private static final ColumnMapping MAPPING = mapping();

    private final RoutingIndex<String> index = new RoutingIndex<>();

    private static ColumnMapping mapping() {
        RelationDefinition sent = new RelationDefinition(
                1, "public", "t", 'd', List.of(new RelationDefinition.Column("c", TEXT, -1, true)));
        Column column = new Column(1, "c", TEXT, -1, Column.Nullability.NULLABLE, Column.Generation.NONE, 100);
        return ColumnMapping.of(
                sent,
                new Relation(
                        1,
                        "public",
                        "t",
                        Relation.Kind.TABLE,
                        10,
                        Relation.RowSecurity.OFF,
                        new ReplicaIdentity.Full(),
                        List.of(column),
                        List.of(),
                        List.of(),
                        new HashMap<>(),
                        null,
                        "",
                        "",
                        new Relation.Feed("", "", Map.of())));
    }

    private static RoutingKey key(EqualTexts equality, String... constants) {
        return new RoutingKey(1, "c", List.of(constants), equality);
    }

    private static Tuple row(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Tuple(bytes, new Tuple.Kind[] {Tuple.Kind.TEXT}, new int[] {0}, new int[] {bytes.length});
    }

    private static Tuple silent() {
        return new Tuple(new byte[0], new Tuple.Kind[] {Tuple.Kind.UNCHANGED}, new int[1], new int[1]);
    }

    private List<String> candidates(@Nullable Tuple row, @Nullable Tuple old) {
        List<String> named = new ArrayList<>();
        int count = index.candidates(row, old, MAPPING, named::add);
        assertThat(count).isEqualTo(named.size());
        named.sort(null);
        return named;
    }

    @Test
    void equal_values_find_each_other_however_they_are_spelled() {
        record Sample(EqualTexts equality, String filed, String logged, boolean found) {}
        for (Sample sample : List.of(
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "1.50", "1.5", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "2", "2.000", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "0.00", "0", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "-1.0", "-1.00", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "100", "1", false),
                new Sample(EqualTexts.WITHOUT_TRAILING_ZEROS, "NaN", "NaN", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_BLANKS, "a", "a   ", true),
                new Sample(EqualTexts.WITHOUT_TRAILING_BLANKS, " a", "a", false),
                new Sample(EqualTexts.WITHOUT_TRAILING_BLANKS, "", "    ", true),
                new Sample(EqualTexts.WITHOUT_SIGN_OF_ZERO, "0", "-0", true),
                new Sample(EqualTexts.WITHOUT_SIGN_OF_ZERO, "-0", "0", true),
                new Sample(EqualTexts.WITHOUT_SIGN_OF_ZERO, "-1", "1", false),
                new Sample(EqualTexts.IDENTICAL, "1.50", "1.5", false),
                new Sample(EqualTexts.IDENTICAL, "a", "a ", false))) {
            RoutingKey key = key(sample.equality, sample.filed);
            index.add("s", key);

            assertThat(candidates(row(sample.logged), null))
                    .as(sample.toString())
                    .hasSize(sample.found ? 1 : 0);

            index.remove("s", key);
            assertThat(index.size()).isZero();
        }
    }

    @Test
    void a_list_is_named_once_whatever_the_images_say() {
        index.add("list", key(EqualTexts.IDENTICAL, "a", "b", "a"));
        index.add("one", key(EqualTexts.IDENTICAL, "b"));

        assertThat(candidates(row("a"), row("b"))).containsExactly("list", "one");
        assertThat(candidates(row("b"), row("a"))).containsExactly("list", "one");
        assertThat(candidates(row("a"), row("c"))).containsExactly("list");
        assertThat(candidates(silent(), null)).containsExactly("list", "one");
        assertThat(candidates(row("c"), silent())).containsExactly("list", "one");
        assertThat(candidates(row("c"), null)).isEmpty();
        assertThat(index.all()).containsExactlyInAnyOrder("list", "one");
        assertThat(index.size()).isEqualTo(2);
    }

    @Test
    void after_any_additions_and_removals_it_names_what_a_scan_would() {
        Random random = new Random(20_261_129L);
        Map<String, RoutingKey> filed = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            String subscription = "s" + random.nextInt(40);
            RoutingKey known = filed.remove(subscription);
            if (known != null) {
                index.remove(subscription, known);
            } else {
                String[] constants = new String[1 + random.nextInt(3)];
                for (int i = 0; i < constants.length; i++) {
                    constants[i] = Integer.toString(random.nextInt(6));
                }
                RoutingKey key = key(EqualTexts.IDENTICAL, constants);
                index.add(subscription, key);
                filed.put(subscription, key);
            }
            String now = Integer.toString(random.nextInt(6));
            String before = Integer.toString(random.nextInt(6));
            TreeSet<String> expected = new TreeSet<>();
            filed.forEach((name, key) -> {
                if (key.constants().contains(now) || key.constants().contains(before)) {
                    expected.add(name);
                }
            });
            assertThat(candidates(row(now), row(before))).containsExactlyElementsOf(expected);
            assertThat(index.size()).isEqualTo(filed.size());
        }
        assertThat(candidates(silent(), null)).containsExactlyElementsOf(new TreeSet<>(filed.keySet()));
    }
}
