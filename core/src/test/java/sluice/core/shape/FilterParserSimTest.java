package sluice.core.shape;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sluice.core.error.RequestException;
import sluice.core.expression.FilterTerm.Negation;
import sluice.core.expression.FilterTerm.Operator;
import sluice.core.expression.FilterTree;

/// Filters from a seed, and texts that are almost filters.
class FilterParserSimTest {
    private static final int ROUNDS = Boolean.getBoolean("sluice.long") ? 5_000_000 : 100_000;
    private static final String PIECES = "abN1 .,()=\"\\*%->'\u00e9\u65e5\t";
    private static final List<String> TOKENS = List.of(
            "a",
            "or(",
            "and(",
            "not.",
            "=",
            "eq.",
            "in.(",
            "is.null",
            "like.",
            ")",
            ",",
            "\"",
            "\\",
            "\\\"",
            " ",
            "b->c",
            "\ud83d\ude00",
            "\ud83d",
            "(",
            "lte.",
            "x",
            "\n",
            "isdistinct.",
            "is.",
            "*");

    private final Random random = new Random(Long.getLong("sluice.seed", 20_261_129L));

    @Test
    void what_is_printed_is_read_as_the_same_filter() {
        for (int i = 0; i < ROUNDS; i++) {
            FilterTree<ParsedTerm> filter = FilterTree.every(members(0));
            String printed = FilterParser.print(filter);

            FilterTree<ParsedTerm> read = FilterParser.parse(printed);

            assertThat(read).as(printed).isEqualTo(filter);
        }
    }

    @Test
    void a_text_is_read_or_refused_and_never_anything_else() {
        int read = 0;
        for (int i = 0; i < ROUNDS; i++) {
            String text = text();
            try {
                FilterTree<ParsedTerm> filter = FilterParser.parse(text);
                String printed = FilterParser.print(filter);
                assertThat(FilterParser.parse(printed)).as(text).isEqualTo(filter);
                assertThat(FilterParser.print(FilterParser.parse(printed))).isEqualTo(printed);
                read++;
            } catch (RequestException refused) {
                assertThat(refused.getMessage()).startsWith("the filter cannot be read at character ");
            }
        }
        assertThat(read).isGreaterThan(ROUNDS / 200).isLessThan(ROUNDS - ROUNDS / 10);
    }

    private List<FilterTree<ParsedTerm>> members(int depth) {
        List<FilterTree<ParsedTerm>> members = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            members.add(member(depth));
        }
        return members;
    }

    private FilterTree<ParsedTerm> member(int depth) {
        if (depth < 3 && random.nextInt(4) == 0) {
            return new FilterTree.Group<>(pick(FilterTree.Connective.values()), negation(), members(depth + 1));
        }
        Operator operator = pick(Operator.values());
        List<String> values = new ArrayList<>();
        switch (operator.operands()) {
            case NONE -> {}
            case ONE -> values.add(operator == Operator.LIKE || operator == Operator.ILIKE ? pattern() : word(0));
            case SEVERAL -> {
                for (int i = 1 + random.nextInt(4); i > 0; i--) {
                    values.add(word(0));
                }
            }
        }
        return new FilterTree.Leaf<>(FilterText.canonical(new ParsedTerm(word(1), operator, values, negation())));
    }

    private Negation negation() {
        return pick(Negation.values());
    }

    private String pattern() {
        return word(0).replaceAll("\\\\+$", "");
    }

    private String word(int lengthMin) {
        StringBuilder word = new StringBuilder();
        for (int i = lengthMin + random.nextInt(6); i > 0; i--) {
            word.append(PIECES.charAt(random.nextInt(PIECES.length())));
        }
        return word.toString();
    }

    private String text() {
        if (random.nextBoolean()) {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) {
                text.append(TOKENS.get(random.nextInt(TOKENS.size())));
            }
            return text.toString();
        }
        StringBuilder text = new StringBuilder(FilterParser.print(FilterTree.every(members(1))));
        int at = random.nextInt(text.length());
        switch (random.nextInt(3)) {
            case 0 -> text.deleteCharAt(at);
            case 1 -> text.insert(at, TOKENS.get(random.nextInt(TOKENS.size())));
            default -> text.setCharAt(at, PIECES.charAt(random.nextInt(PIECES.length())));
        }
        return text.toString();
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }
}
