package sluice.server.recorded;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Supplier;
import sluice.testkit.seed.SeededRandom;

/// A table of random columns, and what may be written to it, allowed, granted and altered.
///
/// Owners, editors, kinds and labels are always there under these names; which column has the name may change.
final class RandomTable {
    /// Keys there are, so that rows meet.
    static final int IDS = 9;

    /// @param values to write to it, as SQL
    private record Column(String name, String type, List<String> values) {
        String definition() {
            return name + " " + type;
        }
    }

    private static final List<Column> EXTRAS = List.of(
            new Column("n", "int", List.of("0", "1", "2", "3", "NULL")),
            new Column("open", "bool", List.of("true", "false", "NULL")),
            new Column("amount", "numeric(12, 3)", List.of("0", "-1.500", "12345.678", "NULL")),
            new Column("due", "timestamptz", List.of("'2026-01-01 00:00:00.5+02'", "'infinity'", "NULL")),
            new Column("tags", "text[]", List.of("'{a,\"b c\",NULL}'", "'{}'", "NULL")),
            new Column("doc", "jsonb", List.of("'{\"a\": [1, 2.50, null]}'", "'\"x\"'", "NULL")),
            new Column("day", "date", List.of("'2026-02-28'", "'4713-01-01 BC'", "NULL")),
            new Column("body", "text", List.of("repeat('x', 2500)", "repeat('y', 2500)", "'short'", "NULL")));

    private static final int EXTRAS_MAX = 3;

    /// How a table is altered.
    enum Alteration {
        SWAP,
        REPLACE,
        RENEW,
        ADD,
        DROP,
        RENAME,
        RETYPE
    }

    private final SeededRandom random;
    private final String name;
    private final List<Column> extras = new ArrayList<>();
    private final boolean logsOldRows;
    private final List<String> subjects;
    private int version;

    /// @param subjects the ids of the callers' subjects
    RandomTable(SeededRandom random, String name, List<String> subjects) {
        this.random = random;
        this.name = name;
        this.subjects = subjects;
        List<Column> shuffled = random.shuffled(EXTRAS);
        extras.addAll(shuffled.subList(0, 1 + random.below(EXTRAS_MAX - 1)));
        this.logsOldRows = random.flip();
    }

    String name() {
        return name;
    }

    /// The columns that come and go, as they are by now.
    List<Object> standing() {
        return List.copyOf(extras);
    }

    /// The columns are again what they were.
    void restore(List<Object> standing) {
        extras.clear();
        standing.forEach(column -> extras.add((Column) column));
    }

    /// Statements that make it, without any policy.
    List<String> definition() {
        StringJoiner columns = new StringJoiner(", ");
        columns.add("id int PRIMARY KEY").add("editor uuid").add("owner uuid");
        columns.add("label text").add("kind text").add("version int");
        extras.forEach(extra -> columns.add(extra.definition()));
        List<String> statements = new ArrayList<>();
        statements.add("CREATE TABLE " + name + " (" + columns + ")");
        extras.forEach(extra -> stored(extra, statements));
        if (logsOldRows) {
            statements.add(alter() + "REPLICA IDENTITY FULL");
        }
        statements.add(alter() + "ENABLE ROW LEVEL SECURITY");
        return statements;
    }

    private void stored(Column extra, List<String> statements) {
        if (extra.name().equals("body")) {
            statements.add(alter() + "ALTER body SET STORAGE EXTERNAL");
        }
    }

    private String alter() {
        return "ALTER TABLE " + name + " ";
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
            String to = random.pick("authenticated", "anon", "PUBLIC", "PUBLIC");
            statements.add("CREATE POLICY p" + i + "_" + random.below(1000) + " ON " + name + " AS " + kind
                    + " FOR SELECT TO " + to + " USING (" + using() + ")");
        }
        return statements;
    }

    private String using() {
        List<Supplier<String>> choices = new ArrayList<>(List.of(
                () -> "owner = auth.uid()",
                () -> "owner = (SELECT auth.uid())",
                () -> "editor = auth.uid()",
                () -> "editor = (SELECT auth.uid()) OR owner = (SELECT auth.uid()) AND kind = 'x'",
                () -> "label = (auth.jwt() ->> 'org')",
                () -> "owner IS NULL OR owner = (SELECT auth.uid())",
                () -> "kind = (auth.jwt() ->> 'org')",
                () -> "kind IN ('x', 'z')",
                () -> "kind IS DISTINCT FROM 'y' AND NOT (owner IS NULL)",
                () -> "coalesce(kind, 'z') <> (auth.jwt() ->> 'org')",
                () -> "id % 3 <> (auth.jwt() ->> 'level')::int",
                () -> "EXISTS (SELECT 1 FROM members m WHERE m.item = " + name + ".id AND m.user_id = auth.uid())",
                () -> "true"));
        for (Column extra : extras) {
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
        random.some(List.of("owner", "editor", "kind", "label", "version")).forEach(columns::add);
        return List.of(
                "REVOKE ALL ON " + name + " FROM " + role, "GRANT SELECT (" + columns + ") ON " + name + " TO " + role);
    }

    // ---- columns

    /// Statements that alter it. A column goes together with the policies that read it.
    List<String> altered() {
        return altered(Alteration.values()[random.weighted(3, 8, 2, 2, 2, 3, 2)]);
    }

    private List<String> altered(Alteration how) {
        return switch (how) {
            case SWAP -> {
                List<String> two = twins();
                yield List.of(
                        alter() + "RENAME " + two.getFirst() + " TO passing",
                        alter() + "RENAME " + two.getLast() + " TO " + two.getFirst(),
                        alter() + "RENAME passing TO " + two.getLast());
            }
            case REPLACE -> {
                // the definition in the log may be the same afterwards, letter by letter
                List<String> two = twins();
                yield List.of(
                        alter() + "DROP " + two.getFirst() + " CASCADE",
                        alter() + "RENAME " + two.getLast() + " TO " + two.getFirst(),
                        alter() + "ADD " + two.getLast() + typeOf(two));
            }
            case RENEW -> {
                List<String> two = twins();
                yield List.of(
                        alter() + "DROP " + two.getFirst() + " CASCADE",
                        alter() + "ADD " + two.getFirst() + typeOf(two));
            }
            case ADD -> added();
            case DROP -> {
                Column gone = extras.isEmpty() ? null : extras.remove(random.below(extras.size()));
                yield gone == null ? added() : List.of(alter() + "DROP " + gone.name() + " CASCADE");
            }
            case RENAME -> renamed();
            case RETYPE -> List.of(alter() + "ALTER label TYPE " + random.pick("text", "text", "varchar(40)"));
        };
    }

    /// Two columns of one type.
    private List<String> twins() {
        return random.pick(
                List.of("editor", "owner"),
                List.of("owner", "editor"),
                List.of("label", "kind"),
                List.of("kind", "label"));
    }

    private static String typeOf(List<String> twins) {
        return twins.contains("owner") ? " uuid" : " text";
    }

    private List<String> added() {
        List<Column> absent = new ArrayList<>(EXTRAS);
        for (Column extra : extras) {
            absent.removeIf(known -> extra.values().equals(known.values()));
        }
        Column more = random.pick(absent);
        extras.add(more);
        List<String> statements = new ArrayList<>();
        statements.add(alter() + "ADD " + more.definition()
                + (random.flip() ? "" : " DEFAULT " + more.values().getFirst()));
        stored(more, statements);
        return statements;
    }

    private List<String> renamed() {
        if (extras.isEmpty()) {
            return added();
        }
        int place = random.below(extras.size());
        Column before = extras.get(place);
        String other = before.name().endsWith("_2")
                ? before.name().substring(0, before.name().length() - 2)
                : before.name() + "_2";
        extras.set(place, new Column(other, before.type(), before.values()));
        return List.of(alter() + "RENAME " + before.name() + " TO " + other);
    }

    // ---- rows

    /// What writes a row, whatever rows there are.
    String written() {
        return insertOrUpdate(random.below(IDS));
    }

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
        StringJoiner names = new StringJoiner(", ");
        names.add("id").add("owner").add("editor").add("kind").add("label").add("version");
        StringJoiner values = new StringJoiner(", ");
        values.add(String.valueOf(id)).add(owner()).add(owner()).add(kind()).add(kind());
        values.add(String.valueOf(++version));
        extras.forEach(extra -> {
            names.add(extra.name());
            values.add(random.pick(extra.values()));
        });
        return "INSERT INTO " + name + " (" + names + ") VALUES (" + values
                + ") ON CONFLICT (id) DO UPDATE SET version = " + ++version + ", " + assignment();
    }

    private String assignment() {
        int choice = random.below(extras.size() + 4);
        return switch (choice) {
            case 0 -> "owner = " + owner();
            case 1 -> "kind = " + kind();
            case 2 -> "editor = " + owner();
            case 3 -> "label = " + kind();
            default -> {
                Column extra = extras.get(choice - 4);
                yield extra.name() + " = " + random.pick(extra.values());
            }
        };
    }

    private String owner() {
        return random.below(4) == 0 ? "NULL" : "'" + random.pick(subjects) + "'";
    }

    private String kind() {
        return random.pick("'x'", "'x'", "'y'", "'z'", "NULL");
    }
}
