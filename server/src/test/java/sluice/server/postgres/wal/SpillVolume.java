package sluice.server.postgres.wal;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.transaction.CatalogKeys;
import sluice.core.transaction.Change;
import sluice.core.transaction.TransactionAssembler;
import sluice.core.transaction.TransactionImages;
import sluice.core.transaction.WalEvent;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// One large transaction through assembler and spill folder, run in a JVM of its own with a small heap.
///
/// Rows are inserted, every tenth is updated, every tenth changes its key, every tenth is deleted. Prints how many of
/// each kind came out, and whether inserts came in the order of the log.
final class SpillVolume {
    private static final RelationDefinition NOTES = new RelationDefinition(
            7,
            "public",
            "notes",
            'd',
            List.of(
                    new RelationDefinition.Column("id", 23, -1, true),
                    new RelationDefinition.Column("body", 25, -1, false)));
    private static final String PADDING = "x".repeat(200);

    private SpillVolume() {}

    public static void main(String[] arguments) {
        int rows = Integer.parseInt(arguments[1]);
        FileSpillStore store = new FileSpillStore(Path.of(arguments[0]), Long.parseLong(arguments[2]));
        store.clean();
        TransactionAssembler assembler = new TransactionAssembler(
                new CatalogKeys(),
                store,
                new TransactionAssembler.Bounds(16L << 20, 1L << 20, List.of()),
                TransactionImages.NET);
        assembler.accept(new PgOutputMessage.Begin(new Lsn(100), Instant.EPOCH, new Xid(1)));
        for (int i = 0; i < rows; i++) {
            assembler.accept(new PgOutputMessage.Insert(NOTES, row(i, "first " + PADDING)));
        }
        for (int i = 0; i < rows; i += 10) {
            assembler.accept(new PgOutputMessage.Update(NOTES, null, row(i, "second")));
            assembler.accept(new PgOutputMessage.Update(NOTES, row(i + 1, null), row(rows + i, "third")));
            assembler.accept(new PgOutputMessage.Delete(NOTES, row(i + 2, null)));
            // a row of before the transaction, which changes its key
            assembler.accept(new PgOutputMessage.Update(NOTES, row(-i - 1, null), row(-i - 2 - rows, "fourth")));
        }
        assembler.accept(new PgOutputMessage.Commit(new Lsn(100), new Lsn(108), Instant.EPOCH));
        int inserts = 0;
        int updates = 0;
        int other = 0;
        int disordered = 0;
        int last = -1;
        long largestChunk = 0;
        for (WalEvent event = assembler.next(); event != null; event = assembler.next()) {
            if (!(event instanceof WalEvent.SpilledChunk(var changes, var weight))) {
                continue;
            }
            largestChunk = Math.max(largestChunk, weight);
            for (Change change : changes) {
                if (change instanceof Change.Insert(var relation, var row)) {
                    inserts++;
                    int id = Integer.parseInt(row.text(0));
                    if (row.text(1).startsWith("first")) {
                        disordered += id < last ? 1 : 0;
                        last = id;
                    }
                } else if (change instanceof Change.Update) {
                    updates++;
                } else {
                    other++;
                }
            }
        }
        System.out.println("inserts=" + inserts + " updates=" + updates + " other=" + other + " disordered="
                + disordered + " left=" + store.bytes() + " chunk<2MiB=" + (largestChunk < 2 << 20));
    }

    private static Tuple row(int id, @Nullable String body) {
        byte[] text = (id + (body == null ? "" : body)).getBytes(StandardCharsets.UTF_8);
        int split = Integer.toString(id).length();
        return new Tuple(
                text,
                new Tuple.Kind[] {Tuple.Kind.TEXT, body == null ? Tuple.Kind.NOT_SENT : Tuple.Kind.TEXT},
                new int[] {0, split},
                new int[] {split, text.length - split});
    }
}
