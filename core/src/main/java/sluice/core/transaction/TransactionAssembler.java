package sluice.core.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.PgOutputMessage.Begin;
import sluice.core.pgoutput.PgOutputMessage.Commit;
import sluice.core.pgoutput.PgOutputMessage.Delete;
import sluice.core.pgoutput.PgOutputMessage.Insert;
import sluice.core.pgoutput.PgOutputMessage.Message;
import sluice.core.pgoutput.PgOutputMessage.Origin;
import sluice.core.pgoutput.PgOutputMessage.Relation;
import sluice.core.pgoutput.PgOutputMessage.Truncate;
import sluice.core.pgoutput.PgOutputMessage.Update;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.wal.Lsn;

/// Messages to whole commits with net images.
///
/// Life: each message goes to {@link #accept}; then {@link #next} is asked until it has no more. A commit that fits
/// in memory is one event. One that does not is sorted on disk and comes as a head, bounded pieces and an end, each
/// read from disk when it is asked for. After a lost connection {@link #abandon} forgets the commit that was cut off.
///
/// What PostgreSQL sends again after a reconnect is discarded, so a commit comes out once. One thread, the reader's.
public final class TransactionAssembler {
    private final RelationKeys keys;
    private final SpillStore store;
    private final Bounds bounds;
    private final TransactionImages images;

    private final List<RelationDefinition> announced = new ArrayList<>();
    private @Nullable Open open;
    private @Nullable Ready ready;
    private @Nullable WalEvent givenBack;
    private Lsn lastEnd = Lsn.ZERO;
    private Lsn lastLoneMessage = Lsn.ZERO;
    private boolean discarding;
    private long discarded;

    /// @param bytesMax what the images of one commit may hold in memory before they are spilled, in bytes; also the
    ///     bound of its logical messages
    /// @param chunkBytesMax weight of one piece of a spilled commit; a single larger change makes
    /// a piece of its own
    /// @param messagePrefixes beginnings of the logical messages anyone listens to; the others are dropped here
    public record Bounds(long bytesMax, long chunkBytesMax, List<String> messagePrefixes) {
        public Bounds {
            messagePrefixes = List.copyOf(messagePrefixes);
        }

        boolean wants(String prefix) {
            for (String wanted : messagePrefixes) {
                if (prefix.startsWith(wanted)) {
                    return true;
                }
            }
            return false;
        }
    }

    public TransactionAssembler(RelationKeys keys, SpillStore store, Bounds bounds, TransactionImages images) {
        this.keys = keys;
        this.store = store;
        this.bounds = bounds;
        this.images = images;
    }

    /// Takes the next message of the stream. All events of the ones before must have been taken.
    ///
    /// @throws SpillException when a commit can be held nowhere
    public void accept(PgOutputMessage message) {
        if (ready != null || givenBack != null) {
            throw new IllegalStateException("events are waiting to be taken");
        }
        switch (message) {
            case Begin begin -> begin(begin);
            case Commit commit -> commit(commit);
            case Relation(RelationDefinition definition) -> announced.add(definition);
            case Message emitted -> message(emitted);
            case Insert insert -> row(insert);
            case Update update -> row(update);
            case Delete delete -> row(delete);
            case Truncate truncate -> row(truncate);
            case Origin origin -> {}
            case PgOutputMessage.Type type -> {}
        }
    }

    private void begin(Begin begin) {
        if (open != null || discarding) {
            throw new IllegalStateException("transaction " + begin.xid() + " begins inside another");
        }
        // a commit record that starts before the end of the last commit handed out was handed out too
        if (begin.finalLsn().isBefore(lastEnd)) {
            discarding = true;
        } else {
            open = new Open(begin);
        }
    }

    private void commit(Commit commit) {
        if (discarding) {
            discarding = false;
            discarded++;
            return;
        }
        Open transaction = expectOpen();
        open = null;
        lastEnd = commit.endLsn();
        ready = transaction.settle(commit, List.copyOf(announced));
        announced.clear();
    }

    private void message(Message message) {
        if (discarding || !bounds.wants(message.prefix())) {
            return;
        }
        LogicalMessage emitted = new LogicalMessage(message.prefix(), message.content());
        if (message.transactional()) {
            expectOpen().add(emitted);
        } else if (message.lsn().isAfter(lastLoneMessage)) {
            lastLoneMessage = message.lsn();
            ready = new Ready(List.of(new WalEvent.LoneMessage(message.lsn(), emitted)), null, null, List.of());
        } else {
            discarded++;
        }
    }

    private void row(PgOutputMessage row) {
        if (!discarding) {
            expectOpen().add(row);
        }
    }

    private Open expectOpen() {
        Open transaction = open;
        if (transaction == null) {
            throw new IllegalStateException("a row or commit outside a transaction");
        }
        return transaction;
    }

    /// The next event made of what was accepted, null when there is none yet.
    public @Nullable WalEvent next() {
        WalEvent again = givenBack;
        givenBack = null;
        if (again != null) {
            return again;
        }
        Ready waiting = ready;
        if (waiting == null) {
            return null;
        }
        WalEvent event = waiting.next();
        if (event == null) {
            waiting.close();
            ready = null;
        }
        return event;
    }

    /// Takes back the event {@link #next} gave last, because it could not be handed on; it comes again.
    public void giveBack(WalEvent event) {
        givenBack = event;
    }

    /// Whether the stream is between transactions with nothing waiting to be taken.
    public boolean isIdle() {
        return open == null && !discarding && ready == null && givenBack == null;
    }

    /// End LSN of the last commit handed out or waiting to be: where a new connection starts.
    public Lsn lastEnd() {
        return lastEnd;
    }

    /// Another timeline is followed from this position: what lies after it is new, whatever was handed out before.
    public void rewind(Lsn at) {
        lastEnd = lastEnd.min(at);
        lastLoneMessage = lastLoneMessage.min(at);
    }

    /// Commits and messages sent again and dropped, since the start.
    public long discarded() {
        return discarded;
    }

    /// Forgets the transaction the connection was lost in; it will be sent again. Events of a
    /// finished commit remain.
    public void abandon() {
        if (open != null) {
            open.close();
            open = null;
        }
        discarding = false;
        announced.clear();
    }

    /// The transaction being received.
    private final class Open {
        private final Begin begin;
        private final List<LogicalMessage> messages = new ArrayList<>();
        private long messageBytes;
        private @Nullable ImageLog everyImage;
        private @Nullable PgOutputMessage only;
        private @Nullable NetImages net;

        Open(Begin begin) {
            this.begin = begin;
        }

        void add(LogicalMessage message) {
            messageBytes += 64L + message.content().length;
            if (messageBytes > bounds.bytesMax()) {
                throw new SpillException("the logical messages of one transaction exceed SLUICE_TRANSACTION_MEMORY");
            }
            messages.add(message);
        }

        void add(PgOutputMessage row) {
            if (net == null && only == null && !(row instanceof Truncate)) {
                // most transactions change one row; nothing has to be netted for those
                only = row;
                return;
            }
            NetImages images = net;
            if (images == null) {
                // every image and the net images share the memory
                boolean all = TransactionAssembler.this.images == TransactionImages.ALL;
                long share = all ? Math.max(bounds.bytesMax() / 2, 1) : bounds.bytesMax();
                images = new NetImages(keys, store, share);
                net = images;
                everyImage = all ? new ImageLog(store, share) : null;
                if (only != null) {
                    addTo(images, only);
                }
            }
            addTo(images, row);
        }

        private void addTo(NetImages images, PgOutputMessage row) {
            switch (row) {
                case Insert insert -> images.add(insert);
                case Update update -> images.add(update);
                case Delete delete -> images.add(delete);
                case Truncate truncate -> images.add(truncate);
                case Begin m -> throw new IllegalStateException("no row: " + m);
                case Commit m -> throw new IllegalStateException("no row: " + m);
                case Relation m -> throw new IllegalStateException("no row: " + m);
                case Message m -> throw new IllegalStateException("no row: " + m.prefix());
                case Origin m -> throw new IllegalStateException("no row: " + m);
                case PgOutputMessage.Type m -> throw new IllegalStateException("no row: " + m);
            }
            ImageLog log = everyImage;
            if (log != null) {
                List<Change> raw = new ArrayList<>(1);
                rawChanges(row, raw);
                raw.forEach(log::add);
            }
        }

        Ready settle(Commit commit, List<RelationDefinition> definitions) {
            NetImages settled = net;
            ImageLog log = everyImage;
            if (settled != null && (settled.hasSpilled() || (log != null && log.hasSpilled()))) {
                settled.settle();
                WalEvent head = new WalEvent.SpilledBegin(
                        begin.xid(), commit.commitLsn(), commit.endLsn(), commit.commitTime(), definitions);
                return new Ready(List.of(head), settled, log, messages);
            }
            List<Change> changes = new ArrayList<>();
            if (settled != null) {
                settled.settle();
                changes.addAll(settled.truncates());
                for (Change change = settled.next(); change != null; change = settled.next()) {
                    changes.add(change);
                }
                settled.close();
            } else if (only != null) {
                rawChanges(only, changes);
            }
            List<Change> every = everyImage(log);
            long weight = 512 + messageBytes;
            for (Change change : changes) {
                weight += weightBytes(change);
            }
            for (Change change : every) {
                weight += weightBytes(change);
            }
            Transaction transaction = new Transaction(
                    begin.xid(),
                    commit.commitLsn(),
                    commit.endLsn(),
                    commit.commitTime(),
                    definitions,
                    changes,
                    every,
                    messages,
                    weight);
            return new Ready(List.of(new WalEvent.Committed(transaction)), null, null, List.of());
        }

        private List<Change> everyImage(@Nullable ImageLog log) {
            List<Change> every = new ArrayList<>();
            if (log != null) {
                for (Change change = log.next(); change != null; change = log.next()) {
                    every.add(change);
                }
                log.close();
            } else if (TransactionAssembler.this.images == TransactionImages.ALL && only != null) {
                rawChanges(only, every);
            }
            return every;
        }

        void close() {
            if (net != null) {
                net.close();
            }
            if (everyImage != null) {
                everyImage.close();
            }
        }
    }

    /// The change as logged, unchanged columns filled from its own old tuple.
    private static void rawChanges(PgOutputMessage message, List<Change> into) {
        switch (message) {
            case Insert(var relation, var tuple) -> into.add(new Change.Insert(relation, tuple));
            case Update(var relation, var old, var tuple) -> {
                Image earlier = old == null ? null : new Image(relation, old);
                Tuple row = new Image(relation, tuple).filledFrom(earlier).tuple();
                into.add(new Change.Update(relation, old, row));
            }
            case Delete(var relation, var old) -> into.add(new Change.Delete(relation, old));
            case Truncate(var relations) -> {
                for (RelationDefinition relation : relations) {
                    into.add(new Change.Truncate(relation));
                }
            }
            case Begin m -> {}
            case Commit m -> {}
            case Relation m -> {}
            case Message m -> {}
            case Origin m -> {}
            case PgOutputMessage.Type m -> {}
        }
    }

    private static long weightBytes(Change change) {
        return 40
                + switch (change) {
                    case Change.Insert(var relation, var row) -> Image.weightBytes(new Image(relation, row));
                    case Change.Update(var relation, var old, var row) ->
                        Image.weightBytes(new Image(relation, row))
                                + (old == null ? 0 : Image.weightBytes(new Image(relation, old)));
                    case Change.Delete(var relation, var old) -> Image.weightBytes(new Image(relation, old));
                    case Change.Truncate(var relation) -> 0;
                };
    }

    /// Events on their way out: those given, then the pieces of a spilled commit.
    private final class Ready {
        private final List<WalEvent> first;
        private final @Nullable NetImages spilled;
        private final @Nullable ImageLog everyImage;
        private final List<LogicalMessage> messages;
        private final KeptCommit.@Nullable Writer kept;
        private int position;
        private Stage stage = Stage.EVERY_IMAGE;

        /// What of a spilled commit comes next.
        private enum Stage {
            EVERY_IMAGE,
            TRUNCATES,
            ROWS,
            OVER
        }

        Ready(
                List<WalEvent> first,
                @Nullable NetImages spilled,
                @Nullable ImageLog everyImage,
                List<LogicalMessage> messages) {
            this.first = first;
            this.spilled = spilled;
            this.everyImage = everyImage;
            this.messages = messages;
            SpillStore.Keeping keeping = spilled == null ? null : store.keep();
            long pieceBytes = Math.min(KeptCommit.PIECE_BYTES, bounds.chunkBytesMax());
            this.kept = keeping == null ? null : new KeptCommit.Writer(keeping, pieceBytes);
        }

        @Nullable
        WalEvent next() {
            if (position < first.size()) {
                return first.get(position++);
            }
            NetImages net = spilled;
            if (net == null || stage == Stage.OVER) {
                return null;
            }
            List<Change> changes = new ArrayList<>();
            ImageLog log = everyImage;
            if (stage == Stage.EVERY_IMAGE) {
                long weight = log == null ? 0 : fill(changes, log::next);
                if (!changes.isEmpty()) {
                    if (kept != null) {
                        kept.addImages(changes);
                    }
                    return new WalEvent.SpilledImages(changes, weight);
                }
                stage = Stage.TRUNCATES;
            }
            if (stage == Stage.TRUNCATES) {
                changes.addAll(net.truncates());
                stage = Stage.ROWS;
            }
            long weight = stage == Stage.ROWS ? fill(changes, net::next) : 0;
            if (changes.isEmpty()) {
                stage = Stage.OVER;
                return new WalEvent.SpilledEnd(messages, kept == null ? null : kept.finish());
            }
            if (kept != null) {
                kept.add(changes);
            }
            return new WalEvent.SpilledChunk(changes, weight);
        }

        /// Takes a chunk's worth from the source.
        private long fill(List<Change> changes, Supplier<@Nullable Change> source) {
            long weight = 64;
            while (weight < bounds.chunkBytesMax()) {
                Change change = source.get();
                if (change == null) {
                    break;
                }
                changes.add(change);
                weight += weightBytes(change);
            }
            return weight;
        }

        void close() {
            if (kept != null) {
                kept.abandon();
            }
            if (spilled != null) {
                spilled.close();
            }
            if (everyImage != null) {
                everyImage.close();
            }
        }
    }
}
