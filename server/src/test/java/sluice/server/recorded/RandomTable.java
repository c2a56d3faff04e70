package sluice.server.recorded;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Supplier;
import sluice.testkit.seed.SeededRandom;

/// A table of random columns, and what may be written to it, allowed and granted.
final class RandomTable {
    /// Keys there are, so that rows meet.
    static final int IDS = 9;

    private record Extra(String name, String definition, List<String> values) {}

    private static final List<Extra> EXTRAS = List.of(
            new Extra("n", "n int", List.of("0", "1", "2", "3", "NULL")),
            new Extra("open", "open bool", List.of("true", "false", "NULL")),
            new Extra("amount", "amount numeric(12, 3)", List.of("0", "-1.500", "12345.678", "NULL")),
            new Extra("due", "due timestamptz", List.of("'2026-01-01 00:00:00.5+02'", "'infinity'", "NULL")),
            new Extra("tags", "tags text[]", List.of("'{a,\"b c\",NULL}'", "'{}'", "NULL")),
            new Extra("doc", "doc jsonb", List.of("'{\"a\": [1, 2.50, null]}'", "'\"x\"'", "NULL")),
            new Extra("day", "day date", List.of("'2026-02-28'", "'4713-01-01 BC'", "NULL")),
            new Extra("body", "body text", List.of("repeat('x', 2500)", "repeat('y', 2500)", "'short'", "NULL")));

    private final SeededRandom random;
    private final String name;
    private final List<Extra> extras;
    private final boolean logsOldRows;
    private final List<String> subjects;
    private int version;

    /// @param subjects the ids of the callers' subjects
    RandomTable(SeededRandom random, String name, List<String> subjects) {
        this.random = random;
        this.name = name;
        this.subjects = subjects;
        List<Extra> shuffled = random.shuffled(EXTRAS);
        this.extras = List.copyOf(shuffled.subList(0, 1 + random.below(3)));
        this.logsOldRows = random.flip();
    }

    String name() {
        return name;
    }

    /// Statements that make it, without any policy.
    List<String> definition() {
        StringJoiner columns = new StringJoiner(", ");
        columns.add("id int PRIMARY KEY").add("owner uuid").add("kind text").add("version int");
        extras.forEach(extra -> columns.add(extra.definition()));
        List<String> statements = new ArrayList<>();
        statements.add("CREATE TABLE " + name + " (" + columns + ")");
        if (extras.stream().anyMatch(extra -> extra.name().equals("body"))) {
            statements.add("ALTER TABLE " + name + " ALTER body SET STORAGE EXTERNAL");
        }
        if (logsOldRows) {
            statements.add("ALTER TABLE " + name + " REPLICA IDENTITY FULL");
        }
        statements.add("ALTER TABLE " + name + " ENABLE ROW LEVEL SECURITY");
        return statements;
    }

    /// In the form of a subscription.
    List<String> filters() {
        return List.of("owner=eq." + subjects.getFirst(), "kind=in.(x,z)", "id=lt.4", "kind=is.null");
    }

    /// The same, in SQL.
    List<String> conditions() {
        return List.of("owner = '" + subjects.getFirst() + "'", "kind IN ('x', 'z')", "id < 4", "kind IS NULL");
    }

    // ---- rights

    /// New policies instead of those there are.
    List<String> policies(List<String> existing) {
        List<String> statements = new ArrayList<>();
        existing.forEach(policy -> statements.add("DROP POLICY " + policy + " ON " + name));
        int count = 1 + random.below(3);
        for (int i = 0; i < count; i++) {
            String kind = i > 0 && random.below(4) == 0 ? "RESTRICTIVE" : "PERMISSIVE";
            String to = random.pick("authenticated", "authenticated", "anon", "PUBLIC");
            statements.add("CREATE POLICY p" + i + "_" + random.below(1000) + " ON " + name + " AS " + kind
                    + " FOR SELECT TO " + to + " USING (" + using() + ")");
        }
        return statements;
    }

    private String using() {
        List<Supplier<String>> choices = new ArrayList<>(List.of(
                () -> "owner = auth.uid()",
                () -> "owner = (SELECT auth.uid())",
                () -> "owner IS NULL OR owner = (SELECT auth.uid())",
                () -> "kind = (auth.jwt() ->> 'org')",
                () -> "kind IN ('x', 'z')",
                () -> "kind IS DISTINCT FROM 'y' AND NOT (owner IS NULL)",
                () -> "coalesce(kind, 'z') <> (auth.jwt() ->> 'org')",
                () -> "id % 3 <> (auth.jwt() ->> 'level')::int",
                () -> "EXISTS (SELECT 1 FROM members m WHERE m.item = " + name + ".id AND m.user_id = auth.uid())",
                () -> "true"));
        for (Extra extra : extras) {
            switch (extra.name()) {
                case "n" -> choices.add(() -> "n <= (auth.jwt() ->> 'level')::int");
                case "open" -> choices.add(() -> "open OR owner = auth.uid()");
                case "amount" -> choices.add(() -> "amount > 0");
                case "tags" -> choices.add(() -> "'a' = ANY (tags)");
                case "body" -> choices.add(() -> "body LIKE 'x%'");
                default -> {}
            }
        }
        return random.pick(choices).get();
    }

    /// Another role may read other columns.
    List<String> grants() {
        String role = random.pick("authenticated", "anon");
        if (random.flip()) {
            return List.of("GRANT SELECT ON " + name + " TO " + role);
        }
        StringJoiner columns = new StringJoiner(", ");
        columns.add("id");
        random.some(List.of("owner", "kind", "version")).forEach(columns::add);
        return List.of(
                "REVOKE ALL ON " + name + " FROM " + role, "GRANT SELECT (" + columns + ") ON " + name + " TO " + role);
    }

    // ---- rows

    String change() {
        int id = random.below(IDS);
        int other = random.below(IDS);
        return switch (random.weighted(10, 6, 3, 2, 1)) {
            case 0 -> insertOrUpdate(id);
            case 1 -> "UPDATE " + name + " SET " + assignment() + ", version = " + ++version + " WHERE id = " + id;
            case 2 -> "DELETE FROM " + name + " WHERE id = " + id;
            case 3 ->
                "UPDATE " + name + " SET id = " + other + ", version = " + ++version + " WHERE id = " + id
                        + " AND NOT EXISTS (SELECT 1 FROM " + name + " WHERE id = " + other + ")";
            default ->
                "UPDATE " + name + " SET kind = " + kind() + ", version = version + 1000 WHERE id BETWEEN " + id
                        + " AND " + (id + 3);
        };
    }

    private String insertOrUpdate(int id) {
        StringJoiner values = new StringJoiner(", ");
        values.add(String.valueOf(id)).add(owner()).add(kind()).add(String.valueOf(++version));
        extras.forEach(extra -> values.add(random.pick(extra.values())));
        return "INSERT INTO " + name + " VALUES (" + values + ") ON CONFLICT (id) DO UPDATE SET version = " + ++version
                + ", " + assignment();
    }

    private String assignment() {
        int choice = random.below(extras.size() + 2);
        if (choice == 0) {
            return "owner = " + owner();
        }
        if (choice == 1) {
            return "kind = " + kind();
        }
        Extra extra = extras.get(choice - 2);
        return extra.name() + " = " + random.pick(extra.values());
    }

    private String owner() {
        return random.below(4) == 0 ? "NULL" : "'" + random.pick(subjects) + "'";
    }

    private String kind() {
        return random.pick("'x'", "'x'", "'y'", "'z'", "NULL");
    }
}
