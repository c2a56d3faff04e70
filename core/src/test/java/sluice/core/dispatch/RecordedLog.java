package sluice.core.dispatch;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.dispatch.RecordedHistory.Commit;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.transaction.CatalogKeys;
import sluice.core.transaction.MemorySpillStore;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.transaction.WalEvent;

/// The reader of a recorded log: the slot's bytes through the real decoder and the real assembler.
///
/// As after every lost connection, tables are announced anew with their first change, and the last commit may come
/// again.
final class RecordedLog {
    record Logged(WalEvent event, Commit commit) {
        boolean endsCommit() {
            return event instanceof WalEvent.Committed || event instanceof WalEvent.SpilledEnd;
        }
    }

    private final RecordedHistory history;
    private final IntSupplier written;
    private final Random random;
    private final CatalogKeys keys = new CatalogKeys();
    private final TransactionAssembler assembler;
    private final ArrayDeque<Logged> events = new ArrayDeque<>();
    private final Map<Integer, byte[]> definitions = new LinkedHashMap<>();
    private final Set<Integer> announced = new LinkedHashSet<>();
    private PgOutputDecoder decoder = new PgOutputDecoder();
    private int read = 1;

    /// @param written the moment up to which there is a log
    RecordedLog(RecordedHistory history, IntSupplier written, Random random) {
        this.history = history;
        this.written = written;
        this.random = random;
        this.assembler = new TransactionAssembler(
                keys,
                new MemorySpillStore(),
                new TransactionAssembler.Bounds(random.nextInt(3) == 0 ? 900 : 100_000, 300, java.util.List.of()),
                TransactionImages.NET);
    }

    void use(CatalogImage catalog) {
        keys.use(catalog);
    }

    boolean isBetweenCommits() {
        return events.isEmpty();
    }

    /// The next event; null when everything has been read.
    @Nullable
    Logged next() {
        while (events.isEmpty() && read <= written.getAsInt()) {
            decode(history.commit(read++));
        }
        return events.pollFirst();
    }

    /// The connection was lost, and has come back.
    void reconnect() {
        assembler.abandon();
        decoder = new PgOutputDecoder();
        announced.clear();
        if (random.nextInt(3) == 0 && read > 1) {
            read--;
        }
    }

    private void decode(Commit commit) {
        for (byte[] bytes : commit.messages()) {
            int relation = changed(bytes);
            byte[] definition = definitions.get(relation);
            if (definition != null && announced.add(relation)) {
                accept(commit, decoder.decode(definition, 0, definition.length));
            }
            PgOutputMessage message = decoder.decode(bytes, 0, bytes.length);
            if (message instanceof PgOutputMessage.Relation(RelationDefinition announcement)) {
                definitions.put(announcement.oid(), bytes);
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
            events.add(new Logged(event, commit));
        }
    }
}
