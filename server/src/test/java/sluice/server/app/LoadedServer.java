package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;
import static sluice.server.app.RunningSluice.shape;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.server.app.ClientCopy.Strictness;
import sluice.server.app.ItemWriters.Kind;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.http.Claims;
import sluice.testkit.http.JwksServer;
import sluice.testkit.http.TokenSigner;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseRequest;

/// A server process under load, with clients that follow what they may see through whatever a test does to it. At the
/// end PostgreSQL is the judge: what each client knows is what its role selects, and nobody else's row came.
final class LoadedServer implements AutoCloseable {
    private static final String OWN = "own_items";
    private static final String SHARED = "member_items";
    private static final int FENCE = 1_000_000;

    private final TokenSigner signer = TokenSigner.es256("test");
    private final JwksServer jwks = JwksServer.publishing(signer);
    private final PostgresDatabase database;
    private final ServerProcess server;
    private final List<ItemWriters> writers = new ArrayList<>();
    private final List<Follower> followers = new ArrayList<>();

    private LoadedServer(PostgresDatabase database, Path scratch, Map<String, String> overrides) throws Exception {
        this.database = database;
        Map<String, String> settings = RunningSluice.environment(database, jwks, scratch.resolve("spill"));
        settings.put("SLUICE_STREAM_QUEUE", "256");
        settings.put("SLUICE_RING_MAX_AGE", "10m");
        settings.put("SLUICE_RELOAD_TIMEOUT", "20s");
        settings.put("SLUICE_TIER_C_MAX_PROBES_PER_SECOND", "100000");
        settings.putAll(overrides);
        this.server = ServerProcess.start(scratch, settings);
    }

    /// Items of one's own, which the server decides, and items that members share, which PostgreSQL does.
    static PostgresDatabase database(PostgresCluster cluster, String name) {
        PostgresDatabase database = cluster.createDatabase(name).withStandardRoles();
        for (String table : List.of(OWN, SHARED)) {
            ItemWriters.withTable(database, table);
            database.execute("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY");
        }
        database.execute(
                "CREATE TABLE members (item int, user_id uuid, PRIMARY KEY (item, user_id))",
                "INSERT INTO members SELECT i, '" + ALICE + "' FROM generate_series(1, 1000, 2) i",
                "INSERT INTO members VALUES (" + FENCE + ", '" + ALICE + "')",
                "CREATE POLICY own ON own_items FOR SELECT TO authenticated USING (owner_id = (SELECT auth.uid()))",
                "CREATE POLICY members ON member_items FOR SELECT TO authenticated USING (EXISTS (SELECT 1 FROM"
                        + " members m WHERE m.item = member_items.id AND m.user_id = (SELECT auth.uid())))",
                "CREATE PUBLICATION sluice FOR TABLE own_items, member_items");
        return database;
    }

    static LoadedServer on(PostgresDatabase database, Path scratch, Map<String, String> overrides) throws Exception {
        return new LoadedServer(database, scratch, overrides);
    }

    ServerProcess server() {
        return server;
    }

    int port() {
        return server.uri("/").getPort();
    }

    /// A client of her own items, through a port that leads to the server; live when this returns.
    Follower follow(String subject, int port) {
        int fence = subject.equals(ALICE) ? FENCE : FENCE + 1;
        return follow(new Follower.Wish(subject, OWN, Strictness.EXACT, subject, fence), port);
    }

    /// A client of alice's of the items that members share. The database has none of these decided while it is
    /// away, so what the client knows is as good as what it was told to read again.
    Follower followShared(int port) {
        return follow(new Follower.Wish(ALICE, SHARED, Strictness.TOLERANT, null, FENCE), port);
    }

    private Follower follow(Follower.Wish wish, int port) {
        String rows = shape("s", wish.table(), ",\"transitions\":true,\"initial\":\"snapshot\"");
        Follower follower = new Follower(
                wish,
                () -> request(wish.subject(), port, rows),
                resume -> request(
                        wish.subject(),
                        port,
                        "{\"sub\":\"s\",\"shape\":{\"table\":\"" + wish.table() + "\",\"transitions\":true},\"resume\":"
                                + resume + "}"));
        followers.add(follower);
        return follower.start();
    }

    private SseRequest request(String subject, int port, String subscription) {
        return SseClient.post(
                        URI.create("http://127.0.0.1:" + port + "/sluice/v1/stream"),
                        "{\"subscriptions\":[" + subscription + "]}")
                .bearer(signer.sign(Claims.of(subject)));
    }

    /// Writers that go on as soon as the database takes them.
    LoadedServer load(long seed) {
        writers.add(new ItemWriters(database, OWN, Kind.ALL, List.of())
                .throughOutages()
                .start(2, seed));
        writers.add(new ItemWriters(database, SHARED, Kind.INSERTS_AND_UPDATES, List.of())
                .throughOutages()
                .start(1, seed + 100));
        return this;
    }

    /// One commit of so many rows of alice's.
    void largeCommit(int first, int rows) {
        database.execute("INSERT INTO own_items SELECT i, '" + ALICE + "', repeat('x', 200), i FROM generate_series("
                + first + ", " + (first + rows - 1) + ") i");
    }

    /// Waits until so many more commits are done.
    void awaitMore(int commits) {
        writers.getFirst().awaitMore(commits);
    }

    /// Writes the last rows, and has PostgreSQL judge what each client knows once it has them.
    void settle() {
        writers.forEach(ItemWriters::stop);
        database.reconnect();
        Map<Follower, Map<Integer, JsonNode>> rows = new LinkedHashMap<>();
        for (Follower follower : followers) {
            rows.put(follower, selected(follower.wish()));
        }
        for (String row : List.of(
                OWN + " VALUES (" + FENCE + ", '" + ALICE,
                OWN + " VALUES (" + (FENCE + 1) + ", '" + BOB,
                SHARED + " VALUES (" + FENCE + ", '" + ALICE)) {
            database.execute("INSERT INTO " + row + "', 'last', 1)");
        }
        rows.forEach((follower, expected) -> {
            Map<Integer, JsonNode> known = follower.rows();
            known.remove(follower.wish().fence());
            assertThat(known).as(follower.wish().toString()).isNotEmpty().isEqualTo(expected);
        });
    }

    private Map<Integer, JsonNode> selected(Follower.Wish wish) {
        return ClientCopy.selected(database, "authenticated", wish.subject(), wish.table(), "true");
    }

    @Override
    public void close() {
        followers.forEach(Follower::close);
        writers.forEach(ItemWriters::close);
        server.close();
        jwks.close();
    }
}
