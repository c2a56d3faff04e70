package sluice.server.postgres.query;

import java.util.List;
import java.util.Objects;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Relation;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// Catalog images of test databases.
final class Catalogs {
    static final List<String> ROLES = List.of("anon", "authenticated", "service_role");

    private Catalogs() {}

    static PostgresDatabase database(int major) {
        return PostgresCluster.of(major).createDatabase("catalog").withStandardRoles();
    }

    static CatalogImage load(PostgresDatabase database) {
        return load(database, new CatalogScope.Everything());
    }

    static CatalogImage load(PostgresDatabase database, CatalogScope scope) {
        try (Reader reader = new Reader(database)) {
            return reader.loader.load(scope, Questions.TIMEOUT);
        }
    }

    /// Reads one database again and again: what never changes is read once.
    static final class Reader implements AutoCloseable {
        private final Pool pool;
        private final CatalogLoader loader;

        Reader(PostgresDatabase database) {
            pool = Questions.pool(database);
            loader = CatalogLoader.start(pool, "sluice", ROLES, Questions.TIMEOUT);
        }

        CatalogImage load() {
            return loader.load(new CatalogScope.Everything(), Questions.TIMEOUT);
        }

        /// One value, in a session as catalogs are read in.
        String ask(String sql) {
            return pool.ask(Pool.Lane.CATALOG, sql, Questions.TIMEOUT, connection -> Rows.run(connection, sql))
                    .getLast()
                    .getFirst()
                    .text(0);
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    static Relation table(CatalogImage image, String name) {
        return Objects.requireNonNull(image.relation("public", name), name);
    }

    static Function function(CatalogImage image, String name) {
        return image.dictionary().functionsByOid().values().stream()
                .filter(function -> function.name().equals(name) && !function.builtIn())
                .findFirst()
                .orElseThrow();
    }

    /// Names of the columns the stream carries.
    static List<String> published(Relation relation) {
        List<String> listed = Objects.requireNonNull(relation.published()).columns();
        return listed != null
                ? listed
                : relation.columns().stream().map(Column::name).toList();
    }

    static int roleOid(PostgresDatabase database, String role) {
        return Integer.parseUnsignedInt(
                Objects.requireNonNull(database.value("SELECT oid FROM pg_roles WHERE rolname = ?", role)));
    }
}
