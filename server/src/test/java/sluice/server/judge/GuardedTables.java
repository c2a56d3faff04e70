package sluice.server.judge;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.seed.SeededRandom;

/// Tables `g0`, `g1`, ... with random owners, flags, policies and grants, and roles with random attributes and
/// memberships. All of them at once, so that one reading of the catalog serves every question.
final class GuardedTables {
    static final int ROWS = 24;
    static final String PUBLICATION = "guarded";

    private static final List<String> ATOMS = List.of(
            "true",
            "false",
            "NULL::bool",
            "owner = auth.uid()",
            "owner = (SELECT auth.uid())",
            "auth.uid() IS NOT NULL",
            "team = (auth.jwt() ->> 'team')",
            "team IN ('a', 'b')",
            "(auth.jwt() ->> 'team') IS NOT DISTINCT FROM team",
            "auth.role() = 'authenticated'",
            "n > 1",
            "n IS NULL",
            "n = (auth.jwt() ->> 'level')::int",
            "flag",
            "flag IS NOT TRUE",
            "team = current_user",
            "n <> ALL ('{1,2}'::int[])",
            "public.tenant() = team",
            "n / n = 1");

    private final PostgresDatabase database;
    private final SeededRandom random;
    private final List<String> roles = new ArrayList<>();

    GuardedTables(PostgresDatabase database, SeededRandom random) {
        this.database = database;
        this.random = random;
    }

    /// @param tables how many
    void create(int tables) {
        database.withStandardRoles();
        database.execute(
                "CREATE FUNCTION tenant() RETURNS text LANGUAGE sql STABLE AS $$SELECT auth.jwt() ->> 'team'$$");
        createRoles();
        for (int table = 0; table < tables; table++) {
            createTable("g" + table);
        }
        database.execute("CREATE PUBLICATION " + PUBLICATION + " FOR ALL TABLES");
    }

    /// The roles are the cluster's, so they do not go with the database.
    void dropRoles() {
        for (List<@Nullable String> table : database.rows("SELECT relname FROM pg_class WHERE relname ~ '^g[0-9]+$'")) {
            database.execute("DROP TABLE " + table.getFirst());
        }
        for (String role : roles) {
            database.execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        }
    }

    List<String> roles() {
        return List.copyOf(roles);
    }

    private void createRoles() {
        for (int i = 0; i < 8; i++) {
            String role = database.name() + "_r" + i;
            database.execute("CREATE ROLE " + role + random.pick(" INHERIT", " NOINHERIT")
                    + (i == 5 || random.chance(0.1) ? " BYPASSRLS" : ""));
            database.execute("GRANT USAGE ON SCHEMA auth, public TO " + role, "GRANT " + role + " TO sluice_authz");
            if (i > 0 && random.chance(0.7)) {
                boolean option = database.cluster().major() >= 16 && random.chance(0.4);
                database.execute("GRANT " + random.pick(roles) + " TO " + role
                        + (option ? " WITH INHERIT " + random.flip() : ""));
            }
            roles.add(role);
        }
    }

    private void createTable(String table) {
        database.execute(
                "CREATE TABLE " + table + " (id int PRIMARY KEY, owner uuid, team text, n int, flag bool)",
                "INSERT INTO " + table + " SELECT i, (ARRAY['00000000-0000-0000-0000-00000000000a',"
                        + " '00000000-0000-0000-0000-00000000000b', NULL]::uuid[])[1 + (i + " + random.below(3)
                        + ") % 3], (ARRAY['a', 'b', '', NULL, 'it''s'])[1 + i * 7 % 5], (ARRAY[0, 1, 2, NULL, -1])[1 +"
                        + " i * 3 % 5], (ARRAY[true, false, NULL])[1 + i / 5 % 3] FROM generate_series(1, " + ROWS
                        + ") i");
        int policies = random.below(6);
        for (int i = 0; i < policies; i++) {
            database.execute(policy(table, i));
        }
        if (random.chance(0.9)) {
            database.execute("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY");
        }
        if (random.chance(0.3)) {
            database.execute("ALTER TABLE " + table + " FORCE ROW LEVEL SECURITY");
        }
        if (random.flip()) {
            database.execute("ALTER TABLE " + table + " OWNER TO " + random.pick(roles));
        }
        for (String role : roles) {
            String columns = random.chance(0.3) ? " (id)" : "";
            database.execute("GRANT SELECT" + columns + " ON " + table + " TO " + role);
        }
    }

    private String policy(String table, int number) {
        String command = random.pick("ALL", "ALL", "SELECT", "SELECT", "UPDATE", "DELETE", "INSERT");
        boolean checked = command.equals("INSERT") || (command.equals("ALL") && random.chance(0.15));
        return "CREATE POLICY \"" + random.pick("p", "P", "é", "z", "a") + number + "\" ON " + table + " AS "
                + (random.chance(0.3) ? "RESTRICTIVE" : "PERMISSIVE") + " FOR " + command + " TO "
                + (random.flip()
                        ? "PUBLIC"
                        : String.join(", ", random.shuffled(roles).subList(0, 1 + random.below(2))))
                + (checked ? " WITH CHECK (true)" : " USING (" + condition(2) + ")");
    }

    private String condition(int depth) {
        return switch (depth == 0 ? 0 : random.weighted(4, 1, 1, 1)) {
            case 0 -> random.pick(ATOMS);
            case 1 -> "(" + condition(depth - 1) + " AND " + condition(depth - 1) + ")";
            case 2 -> "(" + condition(depth - 1) + " OR " + condition(depth - 1) + ")";
            default -> "(NOT (" + condition(depth - 1) + "))";
        };
    }

    static Relation table(CatalogImage catalog, int number) {
        return Objects.requireNonNull(catalog.relation("public", "g" + number));
    }

    static ColumnMapping mapping(Relation relation) {
        List<RelationDefinition.Column> sent = new ArrayList<>();
        relation.columns()
                .forEach(column -> sent.add(
                        new RelationDefinition.Column(column.name(), column.typeOid(), column.typmod(), false)));
        return ColumnMapping.of(
                new RelationDefinition(relation.oid(), relation.schema(), relation.name(), 'd', sent), relation);
    }
}
