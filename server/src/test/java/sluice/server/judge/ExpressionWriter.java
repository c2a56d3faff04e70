package sluice.server.judge;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.testkit.seed.SeededRandom;

/// Writes random expressions of a wanted type, every part cast so that PostgreSQL reads the types that were meant.
final class ExpressionWriter {
    private static final List<String> UNORDERED = List.of("json");
    private static final String CALLER_TEXT = "auth.jwt() ->> ";

    private final SeededRandom random;
    private final JudgedTypes types;
    private final Support support;
    private final Map<String, List<JudgedColumn>> columns = new HashMap<>();
    private final Map<String, Map<String, List<Callable>>> byResultAndSymbol = new HashMap<>();

    ExpressionWriter(
            SeededRandom random,
            JudgedTypes types,
            List<JudgedColumn> columns,
            List<Callable> callables,
            Support support) {
        this.random = random;
        this.types = types;
        this.support = support;
        for (JudgedColumn column : columns) {
            this.columns.computeIfAbsent(column.type(), _ -> new ArrayList<>()).add(column);
        }
        for (Callable callable : callables) {
            byResultAndSymbol
                    .computeIfAbsent(callable.result(), _ -> new LinkedHashMap<>())
                    .computeIfAbsent(callable.symbol() + callable.name(), _ -> new ArrayList<>())
                    .add(callable);
        }
    }

    /// One call with columns and constants for arguments.
    Sample covering(Callable callable) {
        return new Sample(call(callable, random.chance(0.15) ? 1 : 0), callable);
    }

    /// A boolean expression of some depth.
    Sample random() {
        Term truth = truth(1 + random.weighted(3, 4, 3, 1));
        return new Sample(random.chance(0.25) ? negated(truth) : truth, null);
    }

    /// TRUE where the term is not: so that an error that was passed over for a NULL or FALSE shows itself.
    static Term negated(Term truth) {
        return Term.of("bool", "", "((" + truth.sql() + ") IS NOT TRUE)", List.of(truth));
    }

    private boolean may(String feature) {
        return support.promising(feature) || random.chance(0.02);
    }

    private Term call(Callable callable, int depth) {
        List<Term> arguments = new ArrayList<>();
        int count = callable.arguments().size();
        int column = count == 0 || Constants.readsText(callable) ? 0 : random.below(count);
        if (count > 1 && !Constants.of(callable, column).isEmpty()) {
            column = (column + 1) % count;
        }
        for (int i = 0; i < count; i++) {
            arguments.add(argument(callable, i, i == column, depth));
        }
        return Term.of(
                callable.result(),
                callable.key(),
                callable.sql(arguments.stream().map(Term::sql).toList()),
                arguments);
    }

    /// @param column whether this is the argument that should read the row
    private Term argument(Callable callable, int index, boolean column, int depth) {
        String type = callable.arguments().get(index);
        if (Constants.readsText(callable) && random.chance(0.8)) {
            String spelt = JudgedColumn.spelling(callable.result());
            return Term.column(type, type.equals("text") ? spelt : spelt + "::" + type);
        }
        List<String> special = Constants.of(callable, index);
        if (!special.isEmpty() && random.chance(0.85)) {
            return Term.constant(type, JudgedTypes.literal(random.pick(special), type));
        }
        if (column) {
            Term value = value(type, depth);
            return value.row() == Term.Row.READ ? value : column(type, value);
        }
        return random.chance(0.35) ? constant(type) : value(type, depth);
    }

    private Term column(String type, Term otherwise) {
        List<JudgedColumn> candidates = columns.getOrDefault(type, List.of());
        return candidates.isEmpty()
                ? otherwise
                : Term.column(type, random.pick(candidates).sql());
    }

    Term value(String type, int depth) {
        if (type.equals("bool") && depth > 0) {
            return truth(depth);
        }
        if (depth <= 0) {
            return leaf(type);
        }
        for (int attempt = 0; attempt < 4; attempt++) {
            Term term = switch (random.weighted(3, 8, 1, 1, 1, 1, 1)) {
                case 0 -> leaf(type);
                case 1 -> anyCall(type, depth);
                case 2 -> cases(type, depth);
                case 3 -> list("COALESCE", type, depth);
                case 4 -> list(random.pick("GREATEST", "LEAST"), type, depth);
                case 5 -> nullIf(type, depth);
                default -> element(type, depth);
            };
            if (term != null) {
                return term;
            }
        }
        return leaf(type);
    }

    private Term leaf(String type) {
        List<JudgedColumn> candidates = columns.getOrDefault(type, List.of());
        int kind = random.weighted(candidates.isEmpty() ? 0 : 14, 5, 1, 1);
        if (kind == 0 && may("column " + type)) {
            String column = random.pick(candidates).sql();
            boolean collated = type.equals("text") && random.chance(0.15);
            return Term.column(type, collated ? "(" + column + " COLLATE \"C\")" : column);
        }
        if (kind == 2) {
            return Term.constant(type, "NULL::" + type);
        }
        return kind == 3 ? ofTheCallerOrClock(type) : constant(type);
    }

    private Term ofTheCallerOrClock(String type) {
        return switch (type) {
            case "text" ->
                Term.constant(type, "(" + CALLER_TEXT + "'" + random.pick("team", "role", "level", "no") + "')");
            case "uuid" -> Term.constant(type, random.pick("auth.uid()", "(SELECT auth.uid())"));
            case "timestamptz" -> may("now") ? clock(type, "now()") : constant(type);
            case "date" -> may("current_date") ? clock(type, "current_date") : constant(type);
            case "timestamp" -> may("localtimestamp") ? clock(type, "localtimestamp") : constant(type);
            default -> constant(type);
        };
    }

    private static Term clock(String type, String sql) {
        return new Term(type, sql, sql.replace("()", ""), Term.Row.READ, List.of());
    }

    private Term constant(String type) {
        return Term.constant(type, JudgedTypes.literal(random.pick(types.of(type)), type));
    }

    private @Nullable Term anyCall(String type, int depth) {
        Map<String, List<Callable>> bySymbol = byResultAndSymbol.getOrDefault(type, Map.of());
        if (bySymbol.isEmpty()) {
            return null;
        }
        List<List<Callable>> groups = List.copyOf(bySymbol.values());
        for (int attempt = 0; attempt < 12; attempt++) {
            Callable callable = random.pick(random.pick(groups));
            if (support.decided(callable.key()) || (attempt > 8 && random.chance(0.1))) {
                return call(callable, depth - 1);
            }
        }
        return null;
    }

    private @Nullable Term cases(String type, int depth) {
        if (!may("CASE " + type)) {
            return null;
        }
        Term then = value(type, depth - 1);
        Term otherwise = value(type, depth - 1);
        if (random.flip()) {
            Term when = truth(depth - 1);
            boolean without = random.chance(0.2);
            return Term.of(
                    type,
                    "CASE " + type,
                    "CASE WHEN " + when.sql() + " THEN " + then.sql() + (without ? "" : " ELSE " + otherwise.sql())
                            + " END",
                    List.of(when, then, otherwise));
        }
        String operand = random.pick("int4", "text", "mood", "bool", "numeric");
        if (!may("CASE OF " + operand)) {
            return null;
        }
        Term of = value(operand, depth - 1);
        Term first = leaf(operand);
        Term second = leaf(operand);
        return Term.of(
                type,
                "CASE OF " + operand,
                "CASE " + of.sql() + " WHEN " + first.sql() + " THEN " + then.sql() + " WHEN " + second.sql()
                        + " THEN NULL::" + type + " ELSE " + otherwise.sql() + " END",
                List.of(of, first, second, then, otherwise));
    }

    private @Nullable Term list(String name, String type, int depth) {
        if ((UNORDERED.contains(type) && !name.equals("COALESCE")) || !may(name + " " + type)) {
            return null;
        }
        List<Term> parts = several(type, depth - 1, 2 + random.below(2));
        return Term.of(type, name + " " + type, name + "(" + joined(parts) + ")", parts);
    }

    private @Nullable Term nullIf(String type, int depth) {
        if (UNORDERED.contains(type) || !may("NULLIF " + type)) {
            return null;
        }
        List<Term> parts = List.of(value(type, depth - 1), random.flip() ? leaf(type) : constant(type));
        return Term.of(type, "NULLIF " + type, "NULLIF(" + joined(parts) + ")", parts);
    }

    /// `array[i]`, `ARRAY[...]`, a length coercion or a domain, as the type allows.
    private @Nullable Term element(String type, int depth) {
        String array = "_" + type;
        if (type.startsWith("_") && may("ARRAY " + type)) {
            List<Term> parts = several(type.substring(1), depth - 1, random.below(4));
            return Term.of(type, "ARRAY " + type, "ARRAY[" + joined(parts) + "]::" + type, parts);
        }
        String sized = switch (type) {
            case "varchar" -> "varchar(2)";
            case "bpchar" -> "char(2)";
            case "numeric" -> "numeric(6,1)";
            case "timestamp" -> "timestamp(0)";
            case "timestamptz" -> "timestamptz(1)";
            case "time" -> "time(0)";
            case "interval" -> random.pick("interval(0)", "interval day to second");
            case "small", "word", "flag", "score" -> type;
            default -> "";
        };
        if (!sized.isEmpty() && random.flip() && may("CAST TO " + sized)) {
            Term part = value(type.equals(sized) ? base(type) : type, depth - 1);
            return Term.of(type, "CAST TO " + sized, "(" + part.sql() + ")::" + sized, List.of(part));
        }
        if (types.has(array) && may("SUBSCRIPT " + array)) {
            Term of = value(array, depth - 1);
            String index = random.flip()
                    ? random.pick("1", "2", "0", "-1", "3")
                    : leaf("int4").sql();
            String second = random.chance(0.1) ? "[1]" : "";
            return Term.of(type, "SUBSCRIPT " + array, "(" + of.sql() + ")[" + index + "]" + second, List.of(of));
        }
        return null;
    }

    static String base(String domain) {
        return switch (domain) {
            case "small" -> "int4";
            case "word" -> "text";
            case "flag" -> "bool";
            case "score" -> "numeric";
            default -> domain;
        };
    }

    private List<Term> several(String type, int depth, int count) {
        List<Term> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            parts.add(value(type, depth));
        }
        return List.copyOf(parts);
    }

    private static String joined(List<Term> parts) {
        return String.join(", ", parts.stream().map(Term::sql).toList());
    }

    Term truth(int depth) {
        if (depth <= 0) {
            return leaf("bool");
        }
        TruthWriter truths = new TruthWriter(random, types, this);
        for (int attempt = 0; attempt < 6; attempt++) {
            Term term = switch (random.weighted(8, 4, 10, 2, 7, 2)) {
                case 0 -> truths.connective(depth);
                case 1 -> truths.test(depth);
                case 2 -> anyCall("bool", depth);
                case 3 -> cases("bool", depth);
                case 4 -> truths.comparison(depth);
                default -> random.flip() ? list("COALESCE", "bool", depth) : nullIf("bool", depth);
            };
            if (term != null) {
                return term;
            }
        }
        return leaf("bool");
    }

    boolean allowed(String feature) {
        return may(feature);
    }
}
