package sluice.server.app;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.seed.SeededRandom;

/// Several sessions that write to a table of items at once: inserts, updates, deletes, changes of keys and of owners,
/// one to four of them a commit. Each writer has ids of its own, so that none waits for another.
final class ItemWriters implements AutoCloseable {
    private static final int IDS_EACH = 40;

    private static final List<String> OWNERS = List.of(RunningSluice.ALICE, RunningSluice.BOB);

    /// What is written.
    enum Kind {
        ALL,
        /// Nothing that takes a row away, or moves it.
        INSERTS_AND_UPDATES
    }

    private final PostgresDatabase database;
    private final String table;
    private final List<String> settings;
    private final Kind kind;
    private final List<CompletableFuture<Void>> running = new ArrayList<>();
    private final AtomicLong commits = new AtomicLong();
    private final AtomicLong versions = new AtomicLong(1_000_000);
    private volatile boolean stopped;
    private volatile boolean outages;

    /// @param settings statements each session begins with
    ItemWriters(PostgresDatabase database, String table, Kind kind, List<String> settings) {
        this.database = database;
        this.table = table;
        this.kind = kind;
        this.settings = settings;
    }

    /// From here on a session that is lost is opened again, as soon as the database takes it.
    ItemWriters throughOutages() {
        outages = true;
        return this;
    }

    static PostgresDatabase withTable(PostgresDatabase database, String table) {
        database.execute(
                "CREATE TABLE " + table + " (id int PRIMARY KEY, owner_id uuid, body text, version bigint)",
                "ALTER TABLE " + table + " REPLICA IDENTITY FULL");
        return database;
    }

    ItemWriters start(int writers, long seed) {
        return startAfter(0, writers, seed);
    }

    /// @param taken how many writers of other groups use the same table
    ItemWriters startAfter(int taken, int writers, long seed) {
        for (int i = 0; i < writers; i++) {
            int first = 1 + (taken + i) * IDS_EACH;
            SeededRandom random = new SeededRandom(seed + i);
            running.add(CompletableFuture.runAsync(
                    () -> write(first, random),
                    task -> Thread.ofVirtual().name("writer").start(task)));
        }
        return this;
    }

    /// Waits until so many more commits are done.
    void awaitMore(int more) {
        long until = commits.get() + more;
        Await.until("the writers go on", () -> commits.get() >= until || failed());
        if (failed()) {
            running.forEach(CompletableFuture::join);
        }
    }

    private boolean failed() {
        return running.stream().anyMatch(CompletableFuture::isCompletedExceptionally);
    }

    private void write(int first, SeededRandom random) {
        while (!stopped) {
            try {
                session(first, random);
            } catch (SQLException | IllegalStateException e) {
                if (!outages) {
                    throw new IllegalStateException(e);
                }
            }
            if (!stopped) {
                Await.until("the database is there", this::isThere);
            }
        }
    }

    private boolean isThere() {
        try (Connection connection = database.connect()) {
            return connection.isValid(5);
        } catch (SQLException | IllegalStateException e) {
            return false;
        }
    }

    private void session(int first, SeededRandom random) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            for (String setting : settings) {
                statement.execute(setting);
            }
            connection.setAutoCommit(false);
            while (!stopped) {
                int changes = 1 + random.below(4);
                for (int i = 0; i < changes; i++) {
                    change(connection, first, random);
                }
                connection.commit();
                commits.incrementAndGet();
            }
        }
    }

    private void change(Connection connection, int first, SeededRandom random) throws SQLException {
        int id = first + random.below(IDS_EACH);
        int other = first + random.below(IDS_EACH);
        long version = versions.incrementAndGet();
        String owner = random.pick(OWNERS);
        int choice = kind == Kind.ALL ? random.below(8) : 7;
        switch (choice) {
            case 0 -> run(connection, "DELETE FROM " + table + " WHERE id = " + id);
            case 1 ->
                run(
                        connection,
                        "UPDATE " + table + " SET id = " + other + ", version = " + version + " WHERE id = " + id
                                + " AND NOT EXISTS (SELECT 1 FROM " + table + " WHERE id = " + other + ")");
            case 2 ->
                run(
                        connection,
                        "UPDATE " + table + " SET owner_id = '" + owner + "', version = " + version + " WHERE id = "
                                + id);
            default ->
                run(
                        connection,
                        "INSERT INTO " + table + " VALUES (" + id + ", '" + owner + "', 'body " + version + "', "
                                + version + ") ON CONFLICT (id) DO UPDATE SET body = excluded.body,"
                                + " version = excluded.version");
        }
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.executeUpdate();
        }
    }

    /// Waits for the commits under way.
    void stop() {
        stopped = true;
        running.forEach(CompletableFuture::join);
    }

    @Override
    public void close() {
        stopped = true;
    }
}
