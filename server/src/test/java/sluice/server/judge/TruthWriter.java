package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.testkit.seed.SeededRandom;

/// The boolean constructs that are syntax and no functions.
final class TruthWriter {
    private static final List<String> COMPARISONS = List.of("=", "<>", "<", "<=", ">", ">=");

    private final SeededRandom random;
    private final JudgedTypes types;
    private final ExpressionWriter values;

    TruthWriter(SeededRandom random, JudgedTypes types, ExpressionWriter values) {
        this.random = random;
        this.types = types;
        this.values = values;
    }

    Term connective(int depth) {
        Term first = values.truth(depth - 1);
        if (random.chance(0.3)) {
            return Term.of("bool", "", "(NOT " + first.sql() + ")", List.of(first));
        }
        Term second = values.truth(depth - 1);
        String word = random.pick(" AND ", " OR ");
        if (random.chance(0.25)) {
            Term third = values.truth(depth - 1);
            return Term.of(
                    "bool",
                    "",
                    "(" + first.sql() + word + second.sql() + word + third.sql() + ")",
                    List.of(first, second, third));
        }
        return Term.of("bool", "", "(" + first.sql() + word + second.sql() + ")", List.of(first, second));
    }

    @Nullable
    Term test(int depth) {
        if (random.flip()) {
            Term tested = values.truth(depth - 1);
            String test =
                    random.pick("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN");
            return Term.of("bool", "", "((" + tested.sql() + ") " + test + ")", List.of(tested));
        }
        String type = random.pick(types.names());
        if (!values.allowed("NULL TEST " + type)) {
            return null;
        }
        Term tested = values.value(type, depth - 1);
        return Term.of(
                "bool",
                "NULL TEST " + type,
                "((" + tested.sql() + ") " + random.pick("IS NULL", "IS NOT NULL") + ")",
                List.of(tested));
    }

    @Nullable
    Term comparison(int depth) {
        String type = random.pick(types.names());
        if (type.equals("json")) {
            return null;
        }
        return switch (random.weighted(2, 1, 3, 4, 4)) {
            case 0 -> distinct(type, depth);
            case 1 -> between(type, depth);
            case 2 -> in(type, depth);
            case 3 -> quantified(type, depth);
            default -> row(type, depth);
        };
    }

    private @Nullable Term distinct(String type, int depth) {
        if (!values.allowed("DISTINCT " + type)) {
            return null;
        }
        return joined(
                "DISTINCT " + type, two(type, depth), random.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "));
    }

    private @Nullable Term between(String type, int depth) {
        if (!values.allowed("BETWEEN " + type)) {
            return null;
        }
        Term value = values.value(type, depth - 1);
        List<Term> bounds = two(type, depth - 1);
        String word = random.pick(" BETWEEN ", " NOT BETWEEN ", " BETWEEN SYMMETRIC ");
        return Term.of(
                "bool",
                "BETWEEN " + type,
                "(" + value.sql() + word + bounds.getFirst().sql() + " AND "
                        + bounds.getLast().sql() + ")",
                List.of(value, bounds.getFirst(), bounds.getLast()));
    }

    private @Nullable Term in(String type, int depth) {
        if (!values.allowed("IN " + type)) {
            return null;
        }
        Term value = values.value(type, depth - 1);
        List<Term> all = new ArrayList<>();
        List<String> listed = new ArrayList<>();
        all.add(value);
        int count = 1 + random.below(4);
        for (int i = 0; i < count; i++) {
            all.add(values.value(type, random.chance(0.2) ? depth - 1 : 0));
            listed.add(all.getLast().sql());
        }
        String word = random.pick(" IN (", " NOT IN (");
        return Term.of(
                "bool", "IN " + type, "(" + value.sql() + word + String.join(", ", listed) + "))", List.copyOf(all));
    }

    private @Nullable Term quantified(String type, int depth) {
        String array = "_" + type;
        if (!types.has(array) || !values.allowed("QUANTIFIED " + type)) {
            return null;
        }
        Term value = values.value(type, depth - 1);
        Term elements = values.value(array, random.chance(0.3) ? depth - 1 : 0);
        String word = " " + random.pick(COMPARISONS) + random.pick(" ANY (", " ALL (");
        return Term.of(
                "bool",
                "QUANTIFIED " + type,
                "(" + value.sql() + word + elements.sql() + "))",
                List.of(value, elements));
    }

    private @Nullable Term row(String type, int depth) {
        String other = random.pick(types.names());
        if (other.equals("json") || !values.allowed("ROW " + type) || !values.allowed("ROW " + other)) {
            return null;
        }
        List<Term> left = List.of(values.value(type, depth - 1), values.value(other, 0));
        List<Term> right = List.of(values.value(type, depth - 1), values.value(other, 0));
        List<Term> all = new ArrayList<>(left);
        all.addAll(right);
        String word = random.chance(0.2) ? " IS DISTINCT FROM " : " " + random.pick(COMPARISONS) + " ";
        return Term.of(
                "bool",
                "ROW " + type,
                "((" + left.getFirst().sql() + ", " + left.getLast().sql() + ")" + word + "("
                        + right.getFirst().sql() + ", " + right.getLast().sql() + "))",
                List.copyOf(all));
    }

    private List<Term> two(String type, int depth) {
        return List.of(values.value(type, depth - 1), values.value(type, depth - 1));
    }

    private static Term joined(String feature, List<Term> two, String word) {
        return Term.of(
                "bool",
                feature,
                "(" + two.getFirst().sql() + word + two.getLast().sql() + ")",
                List.copyOf(two));
    }
}
