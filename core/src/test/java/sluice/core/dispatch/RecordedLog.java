package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.dispatch.RecordedHistory.Commit;
import sluice.core.dispatch.SimLine.Logged;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.transaction.CatalogKeys;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;

/// The reader of a recorded log: the slot's bytes through the real decoder and the real assembler.
///
/// As after every lost connection, tables are announced anew with their first change, and the last commits come
/// again, wherever in a commit it was lost.
final class RecordedLog implements SimLine.Log<Commit> {
    private static final int REPEATED_MAX = 4;

    private static final int UNSPILLED = 10_000_000;

    private RecordedHistory history;
    private final IntSupplier written;
    private final Random random;
    private final CatalogKeys keys = new CatalogKeys();
    private final ArrayDeque<Logged<Commit>> events = new ArrayDeque<>();
    private final Set<Integer> announced = new LinkedHashSet<>();
    private TransactionAssembler assembler;
    private PgOutputDecoder decoder = new PgOutputDecoder();
    private int read = 1;

    /// @param written the moment up to which there is a log
    RecordedLog(RecordedHistory history, IntSupplier written, Random random) {
        this.history = history;
        this.written = written;
        this.random = random;
        this.assembler = assembler(random.nextInt(3) == 0 ? 900 : 100_000);
    }

    private TransactionAssembler assembler(int bytesMax) {
        return new TransactionAssembler(
                keys,
                new MemorySpillStore(),
                new TransactionAssembler.Bounds(bytesMax, 300, List.of("sluice:")),
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
        while (events.isEmpty() && read <= written.getAsInt()) {
            decode(history.commit(read++));
        }
        return events.pollFirst();
    }

    /// The connection was lost, and has come back. Now and then so has the reader, who then knows nothing of
    /// what it has read: the engine has to.
    @Override
    public void reconnect() {
        if (read <= written.getAsInt() && random.nextBoolean()) {
            cutOff(history.commit(read));
        }
        assembler.abandon();
        decoder = new PgOutputDecoder();
        announced.clear();
        if (random.nextInt(4) == 0) {
            assembler = assembler(UNSPILLED);
        }
        if (random.nextInt(3) == 0) {
            read = Math.max(1, read - 1 - random.nextInt(REPEATED_MAX));
        }
    }

    private void cutOff(Commit commit) {
        int whole = commit.messages().size() - 1;
        decode(commit, whole <= 0 ? 0 : random.nextInt(whole + 1));
    }

    /// Another server goes on behind the moment, with a log that leaves the one before there.
    void failedOver(RecordedHistory next, int after, Lsn leftAt) {
        reconnect();
        history = next;
        read = Math.min(read, after + 1);
        assembler.rewind(leftAt);
    }

    private void decode(Commit commit) {
        decode(commit, commit.messages().size());
    }

    private void decode(Commit commit, int count) {
        for (byte[] bytes : commit.messages().subList(0, count)) {
            int relation = changed(bytes);
            byte[] definition = commit.definitions().get(relation);
            if (definition != null && announced.add(relation)) {
                accept(commit, decoder.decode(definition, 0, definition.length));
            }
            PgOutputMessage message = decoder.decode(bytes, 0, bytes.length);
            if (message instanceof PgOutputMessage.Relation(RelationDefinition announcement)) {
                announced.add(announcement.oid());
            }
            accept(commit, message);
        }
    }

    /// The table a change is of, 0 for other messages: four bytes after the kind, or after the number of tables and
    /// the options.
    private static int changed(byte[] bytes) {
        int at = switch (bytes[0]) {
            case 'I', 'U', 'D' -> 1;
            case 'T' -> 6;
            default -> -1;
        };
        return at < 0 ? 0 : java.nio.ByteBuffer.wrap(bytes).getInt(at);
    }

    private void accept(Commit commit, PgOutputMessage message) {
        assembler.accept(message);
        for (WalEvent event = assembler.next(); event != null; event = assembler.next()) {
            events.add(new Logged<>(event, commit));
        }
    }
}
