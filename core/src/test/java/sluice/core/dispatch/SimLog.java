package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.dispatch.SimDatabase.Commit;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimLine.Logged;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.transaction.CatalogKeys;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.transaction.WalEvent;

/// The reader of the simulated log: commits as PostgreSQL sends them, through the real assembler.
///
/// A table is announced with its first change of a connection, and with the first after its rights moved.
final class SimLog implements SimLine.Log<Commit> {
    private final SimDatabase database;
    private final Random random;
    private final CatalogKeys keys = new CatalogKeys();
    private final ArrayDeque<Logged<Commit>> events = new ArrayDeque<>();
    private final Set<Table> announced = new LinkedHashSet<>();
    private TransactionAssembler assembler;
    private int read;

    SimLog(SimDatabase database, Random random) {
        this.database = database;
        this.random = random;
        this.assembler = assembler();
    }

    private TransactionAssembler assembler() {
        return new TransactionAssembler(
                keys,
                new MemorySpillStore(random.nextInt(3) == 0 ? 400 : random.nextInt(4) == 0 ? 0 : 1_000_000),
                new TransactionAssembler.Bounds(
                        random.nextInt(3) == 0 ? 900 : 100_000, 300, java.util.List.of("sluice:")),
                TransactionImages.NET);
    }

    void use(CatalogImage catalog) {
        keys.use(catalog);
    }

    @Override
    public boolean isBetweenCommits() {
        return events.isEmpty();
    }

    @Override
    public @Nullable Logged<Commit> next() {
        if (events.isEmpty()) {
            decode();
        }
        return events.pollFirst();
    }

    /// The connection was lost, and has come back.
    @Override
    public void reconnect() {
        assembler.abandon();
        announced.clear();
    }

    /// Another server goes on from what the database has by now.
    void failOver() {
        read = Math.min(read, database.commits.size());
        assembler = assembler();
        announced.clear();
    }

    private void decode() {
        while (read < database.commits.size()) {
            Commit commit = database.commits.get(read++);
            for (Table table : Table.values()) {
                if (commit.touched.contains(table + " rights")) {
                    announced.remove(table);
                }
            }
            if (!commit.changes.isEmpty()) {
                decode(commit);
                return;
            }
        }
    }

    private void decode(Commit commit) {
        accept(commit, new PgOutputMessage.Begin(commit.lsn, commit.time, commit.xid));
        for (PgOutputMessage change : commit.changes) {
            for (Table table : Table.values()) {
                if (SimDatabase.relations(change).contains(table.definition) && announced.add(table)) {
                    accept(commit, new PgOutputMessage.Relation(table.definition));
                }
            }
            accept(commit, change);
        }
        accept(commit, new PgOutputMessage.Commit(commit.lsn, commit.end(), commit.time));
    }

    private void accept(Commit commit, PgOutputMessage message) {
        assembler.accept(message);
        for (WalEvent event = assembler.next(); event != null; event = assembler.next()) {
            events.add(new Logged<>(event, commit));
        }
    }
}
