package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.postgres.query.Catalogs.database;
import static sluice.server.postgres.query.Catalogs.function;
import static sluice.server.postgres.query.Catalogs.table;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Function;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Policy;
import sluice.core.catalog.Relation;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// The functions that say what a role may do and how a policy reads know no snapshot: they answer from what is
/// committed when they are called. An image says what held at its snapshot all the same.
class CatalogRacePgTest {
    private final PostgresDatabase database = database(PostgresCluster.NEWEST);

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void privileges_that_come_and_go_are_those_of_the_snapshot() throws Exception {
        database.execute(
                "CREATE TABLE t (id int PRIMARY KEY)",
                "REVOKE ALL ON t FROM authenticated",
                "CREATE PUBLICATION sluice FOR TABLE t");
        Map<String, Boolean> granted = new ConcurrentHashMap<>();
        List<Relation> read = new ArrayList<>();
        for (CatalogImage image : whileMoving(
                "GRANT SELECT ON t TO authenticated",
                "REVOKE SELECT ON t FROM authenticated",
                "SELECT xmin::text FROM pg_class WHERE oid = 't'::regclass",
                granted)) {
            read.add(table(image, "t"));
        }
        for (Relation t : read) {
            Grants grants = Objects.requireNonNull(t.grantsByRole().get("authenticated"));
            assertThat(!grants.selectColumns().isEmpty())
                    .isEqualTo(granted.getOrDefault(
                            Objects.requireNonNull(t.rightVersions().get("table"))
                                    .toString(),
                            false));
        }
        assertThat(read).extracting(t -> t.rightVersions().get("table")).hasSizeGreaterThan(2);
    }

    @Test
    void a_function_that_may_be_called_and_may_not_is_as_the_snapshot_says() throws Exception {
        database.execute(
                "CREATE FUNCTION may() RETURNS bool LANGUAGE sql STABLE AS 'SELECT true'",
                "REVOKE ALL ON FUNCTION may FROM PUBLIC, authenticated",
                "CREATE TABLE t (id int PRIMARY KEY)",
                "CREATE PUBLICATION sluice FOR TABLE t");
        Map<String, Boolean> granted = new ConcurrentHashMap<>();
        List<Function> read = new ArrayList<>();
        for (CatalogImage image : whileMoving(
                "GRANT EXECUTE ON FUNCTION may TO authenticated",
                "REVOKE EXECUTE ON FUNCTION may FROM authenticated",
                "SELECT xmin::text FROM pg_proc WHERE oid = 'may'::regproc",
                granted)) {
            read.add(function(image, "may"));
        }
        for (Function may : read) {
            assertThat(may.executableByRole().get("authenticated"))
                    .isEqualTo(granted.getOrDefault(may.version(), false));
        }
        assertThat(read).extracting(Function::version).hasSizeGreaterThan(2);
    }

    @Test
    void a_policy_names_its_columns_as_the_snapshot_does() throws Exception {
        database.execute(
                "CREATE TABLE t (id int PRIMARY KEY, mine int, other int)",
                "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON t USING (mine = 1)",
                "CREATE PUBLICATION sluice FOR TABLE t");
        String swap = "BEGIN; ALTER TABLE t RENAME mine TO third; ALTER TABLE t RENAME other TO mine;"
                + " ALTER TABLE t RENAME third TO other; COMMIT";
        List<String> names = new ArrayList<>();
        for (CatalogImage image : whileMoving(swap, swap, "SELECT '' FROM pg_class", new ConcurrentHashMap<>())) {
            Relation t = table(image, "t");
            String name = t.columns().get(1).name();
            Policy own = t.policies().getFirst();
            if (!PolicyTexts.UNREADABLE.equals(own.text())) {
                assertThat(own.text()).isEqualTo("(" + name + " = 1)");
                names.add(name);
            }
        }
        assertThat(names).contains("mine", "other");
    }

    @Test
    void a_policy_names_what_it_reads_of_another_table_as_the_rights_of_its_reading_do() throws Exception {
        database.execute(
                "CREATE TABLE members (mine int, other int)",
                "CREATE TABLE t (id int PRIMARY KEY)",
                "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON t USING (EXISTS (SELECT FROM members m WHERE m.mine = t.id))",
                "CREATE PUBLICATION sluice FOR TABLE t");
        String swap = "BEGIN; ALTER TABLE members RENAME mine TO third; ALTER TABLE members RENAME other TO mine;"
                + " ALTER TABLE members RENAME third TO other; COMMIT";
        Map<String, Set<String>> textsByRights = new LinkedHashMap<>();
        for (CatalogImage image : whileMoving(swap, swap, "SELECT '' FROM pg_class", new ConcurrentHashMap<>())) {
            textsByRights
                    .computeIfAbsent(String.valueOf(image.rights()), _ -> new LinkedHashSet<>())
                    .add(String.valueOf(table(image, "t").policies().getFirst().text()));
        }
        assertThat(textsByRights)
                .hasSize(2)
                .allSatisfy((_, texts) -> assertThat(texts).hasSize(1));
    }

    /// The images read while an owner does the one and the other in turn, with a moment after each.
    ///
    /// @param version what the image will show of the state that was made
    /// @param made for each version whether the first made it
    private List<CatalogImage> whileMoving(String there, String back, String version, Map<String, Boolean> made)
            throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<CatalogImage> read = new ArrayList<>();
        try (Pool pool = Questions.pool(database);
                Connection own = database.connect();
                Statement statement = own.createStatement()) {
            CatalogLoader loader = CatalogLoader.start(pool, "sluice", Catalogs.ROLES, Questions.TIMEOUT);
            CompletableFuture<Void> moving = CompletableFuture.runAsync(
                    () -> {
                        for (boolean first = true; !over.get(); first = !first) {
                            made.put(move(statement, first ? there : back, version), first);
                        }
                    },
                    task -> Thread.ofVirtual().name("owner").start(task));
            try {
                for (int i = 0; i < 60 && read.size() < 20; i++) {
                    try {
                        read.add(loader.load(new CatalogScope.Everything(), Questions.TIMEOUT));
                    } catch (QueryException moved) {
                        assertThat(moved.kind()).as(moved.getMessage()).isEqualTo(QueryException.Kind.TRANSIENT);
                    }
                }
            } finally {
                over.set(true);
                moving.join();
            }
        }
        assertThat(read).hasSizeGreaterThan(5);
        return read;
    }

    private static String move(Statement statement, String sql, String version) {
        try {
            statement.execute(sql);
            try (ResultSet row = statement.executeQuery(version)) {
                row.next();
                String made = row.getString(1);
                statement.execute("SELECT pg_sleep(0.1)");
                return made;
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
