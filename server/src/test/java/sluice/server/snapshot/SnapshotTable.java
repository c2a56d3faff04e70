package sluice.server.snapshot;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Relation;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Notice;
import sluice.core.event.EventBody;
import sluice.core.expression.EqualTexts;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTree;
import sluice.core.session.Identity;
import sluice.core.shape.Filter;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.server.metrics.Metrics;
import sluice.server.postgres.PostgresUrl;
import sluice.server.postgres.query.CatalogLoader;
import sluice.server.postgres.query.Pool;
import sluice.server.postgres.query.SlotServer;
import sluice.server.postgres.query.SnapshotQueries;
import sluice.testkit.PostgresDatabase;

/// A database with the publication `sluice`, and snapshots read of its tables by the product's reader over one
/// connection, so that whatever a snapshot leaves behind is met by the next.
public final class SnapshotTable implements AutoCloseable {
    public static final String ALICE = "11111111-1111-4111-8111-111111111111";
    public static final String BOB = "22222222-2222-4222-8222-222222222222";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final List<String> ROLES = List.of("anon", "authenticated");

    final PostgresDatabase database;
    final Metrics metrics = new Metrics();
    final List<Notice> notices = new CopyOnWriteArrayList<>();
    final SpoolStore spools;
    private final Pool pool;
    private @Nullable SlotServer slotServer;

    /// @param folder of the spools
    public SnapshotTable(PostgresDatabase database, Path folder) {
        this(database, new SpoolStore(folder, new SpoolStore.Bounds(1 << 26, 1 << 22, 1 << 14)));
    }

    SnapshotTable(PostgresDatabase database, SpoolStore spools) {
        this.database = database;
        this.spools = spools;
        this.pool = Pool.open(
                PostgresUrl.parse(database.url("sluice_authz")), new Pool.Sizing(1, 0, TIMEOUT), Pool.Reset.ROLLBACK);
        this.slotServer =
                new SlotServer(text(database, "SELECT system_identifier FROM pg_control_system()"), 1, database.name());
    }

    private static String text(PostgresDatabase database, String sql) {
        return Objects.requireNonNull(database.value(sql));
    }

    /// A new folder for spools.
    public static Path folder() {
        try {
            return Files.createTempDirectory("sluice-spools");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void slotIsOn(@Nullable SlotServer server) {
        slotServer = server;
    }

    static SnapshotQueries.Bounds bounds(long rowsMax, int rowBytesMax) {
        return new SnapshotQueries.Bounds(rowsMax, rowBytesMax, TIMEOUT, TIMEOUT);
    }

    SnapshotReader reader(SnapshotQueries.Bounds bounds) {
        return new SnapshotReader(queries(bounds), spools, bounds.rowBytesMax(), metrics, notices::add);
    }

    SnapshotQueries queries(SnapshotQueries.Bounds bounds) {
        return new SnapshotQueries(pool, () -> slotServer, "sluice_authz", bounds);
    }

    /// Loaded anew, as the product does.
    private CatalogImage catalog(List<String> roles) {
        return CatalogLoader.start(pool, "sluice", roles, TIMEOUT).load(new CatalogScope.Everything(), TIMEOUT);
    }

    static Identity caller(String role, String subject) {
        return new Identity(subject, role, "{\"sub\":\"" + subject + "\"}", Instant.MAX);
    }

    /// As alice's role sees it.
    public CatalogImage catalog() {
        return catalog(ROLES);
    }

    Effect.ReadSnapshot request(Identity caller, String schema, String table, FilterTerm... filter) {
        List<String> roles = ROLES.contains(caller.role()) ? ROLES : List.of(caller.role());
        CatalogImage catalog = catalog(roles);
        Relation relation = Objects.requireNonNull(catalog.relation(schema, table), table);
        // what the role may read and the log carries
        Projection projection =
                Projection.of(relation, relation.grants(caller.role()).selectColumns(), catalog);
        List<FilterTree<FilterTerm>> terms = new ArrayList<>();
        for (FilterTerm term : filter) {
            terms.add(new FilterTree.Leaf<>(term));
        }
        return new Effect.ReadSnapshot(
                1, caller, catalog, relation, projection, Filter.of(catalog, FilterTree.every(terms)));
    }

    FilterTerm term(String table, String column, FilterTerm.Operator operator, String... constants) {
        CatalogImage catalog = catalog(ROLES);
        var found = Objects.requireNonNull(
                Objects.requireNonNull(catalog.relation("public", table)).column(column));
        return new FilterTerm(
                found,
                operator,
                List.of(constants),
                FilterTerm.Negation.PLAIN,
                EqualTexts.of(catalog.type(found.typeOid())));
    }

    SnapshotOutcome read(Effect.ReadSnapshot request) {
        return reader(bounds(10_000, 1 << 20)).read(request);
    }

    /// Everything in the spool, which is given back.
    static List<JsonNode> rows(SnapshotOutcome outcome) {
        if (!(outcome instanceof SnapshotOutcome.Read read)) {
            throw new AssertionError("no rows but " + outcome);
        }
        Spool spool = (Spool) read.spool();
        List<JsonNode> rows = new ArrayList<>();
        List<EventBody> taken = spool.take(7, 1 << 20);
        while (!taken.isEmpty()) {
            for (EventBody row : taken) {
                rows.add(json("{" + new String(row.tail(), StandardCharsets.UTF_8)));
            }
            taken = spool.take(7, 1 << 20);
        }
        spool.drop();
        return rows;
    }

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON: " + text, e);
        }
    }

    /// A snapshot of a whole table as alice sees it.
    public SnapshotOutcome.Read readAll(String table) {
        return (SnapshotOutcome.Read) read(request(caller("authenticated", ALICE), "public", table));
    }

    /// The texts of the records of a snapshot, in order, as they are sent; its spool is given back.
    public static List<String> records(SnapshotOutcome.Read read) {
        Spool spool = (Spool) read.spool();
        List<String> records = new ArrayList<>();
        for (EventBody row : spool.take(Integer.MAX_VALUE, Long.MAX_VALUE)) {
            String tail = new String(row.tail(), StandardCharsets.UTF_8);
            records.add(tail.substring(tail.indexOf(",\"record\":") + 10, tail.lastIndexOf(",\"snapshot\":true}")));
        }
        spool.drop();
        return records;
    }

    @Override
    public void close() {
        pool.close();
        database.close();
    }
}
