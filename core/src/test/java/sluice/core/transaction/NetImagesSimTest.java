package sluice.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.PgOutputMessage.Begin;
import sluice.core.pgoutput.PgOutputMessage.Commit;
import sluice.core.pgoutput.PgOutputMessage.Delete;
import sluice.core.pgoutput.PgOutputMessage.Insert;
import sluice.core.pgoutput.PgOutputMessage.Truncate;
import sluice.core.pgoutput.PgOutputMessage.Update;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.wal.Lsn;
import sluice.core.wal.Xid;

/// Random transactions on a model table: their net images, applied to the state before, must give the state after,
/// and must show nothing that lies between.
class NetImagesSimTest {
    private static final int SEEDS = 800 * (Boolean.getBoolean("sluice.long") ? 30 : 1);

    /// How rows are told apart and what old tuples carry. Columns: id, code, v, big.
    @SuppressWarnings("ImmutableEnumChecker") // nobody writes to the arrays
    private enum Identity {
        PRIMARY_KEY('d', new int[] {0}, "id*", "code", "v", "big"),
        OTHER_INDEX('i', new int[] {1}, "id", "code*", "v", "big"),
        COMPOSITE('d', new int[] {0, 1}, "id*", "code*", "v", "big"),
        FULL_WITH_KEY('f', new int[] {0}, "id", "code", "v", "big"),
        FULL_ALONE('f', new int[] {}, "id", "code", "v", "big");

        private final RelationDefinition relation;
        private final int[] key;

        Identity(char identity, int[] key, String... columns) {
            this.relation = Rows.relation(1, identity, columns);
            this.key = key;
        }
    }

    @Test
    void net_images_turn_the_state_before_into_the_state_after() {
        for (Identity identity : Identity.values()) {
            for (int seed = 0; seed < SEEDS; seed++) {
                new World(identity, seed).run();
            }
        }
    }

    private static final class World {
        private final Identity identity;
        private final String label;
        private final Random random;
        private final List<List<String>> rows = new ArrayList<>();
        private final List<PgOutputMessage> messages = new ArrayList<>();
        private boolean truncated;
        private int counter;

        World(Identity identity, int seed) {
            this.identity = identity;
            this.label = identity + " seed " + seed;
            this.random = new Random(seed * 31L + identity.relation.identity());
        }

        void run() {
            int initial = random.nextInt(6);
            for (int i = 0; i < initial; i++) {
                List<String> row = fresh();
                if (isFree(row, null)) {
                    rows.add(row);
                }
            }
            List<List<String>> before = List.copyOf(rows);
            int count = 1 + random.nextInt(14);
            for (int i = 0; i < count; i++) {
                step();
            }
            List<Change> inMemory = net(Long.MAX_VALUE);
            List<Change> spilled = net(1 + random.nextInt(900));
            assertThat(Rows.print(spilled)).as(label).isEqualTo(Rows.print(inMemory));
            check(before, inMemory);
        }

        private List<Change> net(long bytesMax) {
            MemorySpillStore store = new MemorySpillStore();
            RelationKeys keys = relation -> identity.key;
            TransactionAssembler assembler = new TransactionAssembler(
                    keys, store, new TransactionAssembler.Bounds(bytesMax, 300, List.of()), TransactionImages.NET);
            List<PgOutputMessage> all = new ArrayList<>();
            all.add(new Begin(new Lsn(100), Instant.EPOCH, new Xid(7)));
            all.addAll(messages);
            all.add(new Commit(new Lsn(100), new Lsn(108), Instant.EPOCH));
            List<Change> changes = new ArrayList<>();
            for (PgOutputMessage message : all) {
                assembler.accept(message);
                for (WalEvent event = assembler.next(); event != null; event = assembler.next()) {
                    if (event instanceof WalEvent.Committed(var transaction)) {
                        changes.addAll(transaction.changes());
                    } else if (event instanceof WalEvent.SpilledChunk(var chunk, var weight)) {
                        changes.addAll(chunk);
                    }
                }
            }
            assertThat(store.alive).as(label).isEmpty();
            assertThat(store.openReaders).as(label).isZero();
            return changes;
        }

        private void step() {
            int dice = random.nextInt(20);
            if (dice < 6 || rows.isEmpty()) {
                List<String> row = fresh();
                if (isFree(row, null)) {
                    rows.add(row);
                    messages.add(new Insert(identity.relation, Rows.tuple(row)));
                }
            } else if (dice < 10) {
                List<String> row = rows.remove(random.nextInt(rows.size()));
                messages.add(new Delete(identity.relation, old(row)));
            } else if (dice == 19 && random.nextInt(4) == 0) {
                rows.clear();
                truncated = true;
                messages.add(new Truncate(List.of(identity.relation)));
            } else {
                update(random.nextInt(rows.size()));
            }
        }

        private void update(int at) {
            List<String> row = rows.get(at);
            List<String> changed = new ArrayList<>(row);
            List<String> fresh = fresh();
            boolean sent = random.nextInt(3) == 0;
            for (int column = 0; column < 4; column++) {
                if (column == 3 ? sent : random.nextInt(3) == 0) {
                    changed.set(column, fresh.get(column));
                }
            }
            if (!isFree(changed, row)) {
                return;
            }
            rows.set(at, changed);
            List<String> logged = new ArrayList<>(changed);
            if (logged.get(3).equals(row.get(3)) && !logged.get(3).equals(Rows.NULL)) {
                logged.set(3, Rows.UNCHANGED);
            }
            boolean full = identity.relation.identity() == 'f';
            boolean keyed = full || !key(changed).equals(key(row));
            messages.add(new Update(identity.relation, keyed ? old(row) : null, Rows.tuple(logged)));
        }

        private List<String> fresh() {
            String big = random.nextInt(5) == 0 ? Rows.NULL : "big" + random.nextInt(3);
            // whole rows must be able to collide; rows with a key get contents of their own, so that a leak shows
            String v = identity == Identity.FULL_ALONE ? "v" + random.nextInt(2) : "v" + counter++;
            return new ArrayList<>(List.of("" + random.nextInt(5), "c" + random.nextInt(5), v, big));
        }

        private Tuple old(List<String> row) {
            List<String> values = new ArrayList<>(row);
            for (int i = 0; i < 4; i++) {
                if (!identity.relation.columns().get(i).inIdentity()) {
                    values.set(i, Rows.NOT_SENT);
                }
            }
            return Rows.tuple(values);
        }

        private List<String> key(List<String> row) {
            List<String> key = new ArrayList<>();
            for (int position : identity.key) {
                key.add(row.get(position));
            }
            return identity.key.length == 0 ? row : key;
        }

        private boolean isFree(List<String> row, @Nullable List<String> except) {
            if (identity == Identity.FULL_ALONE) {
                return true;
            }
            boolean exceptSeen = false;
            for (List<String> other : rows) {
                if (!exceptSeen && other.equals(except)) {
                    exceptSeen = true;
                } else if (key(other).equals(key(row))) {
                    return false;
                }
            }
            return true;
        }

        private void check(List<List<String>> before, List<Change> changes) {
            if (identity == Identity.FULL_ALONE) {
                checkContents(before, changes);
            } else {
                checkKeyed(before, changes);
            }
        }

        /// Rows without a key: what is taken away must be there, and what remains must be the rows after.
        private void checkContents(List<List<String>> before, List<Change> changes) {
            List<List<String>> state = new ArrayList<>(before);
            List<List<String>> added = new ArrayList<>();
            for (Change change : changes) {
                switch (change) {
                    case Change.Truncate t -> state.clear();
                    case Change.Delete(var relation, var old) -> take(state, Rows.values(old));
                    case Change.Insert(var relation, var row) -> added.add(Rows.values(row));
                    case Change.Update(var relation, var old, var row) -> {
                        take(state, Rows.values(old));
                        added.add(Rows.values(row));
                    }
                }
            }
            state.addAll(added);
            assertThat(state).as(label).containsExactlyInAnyOrderElementsOf(rows);
        }

        private void take(List<List<String>> state, List<String> row) {
            assertThat(state.remove(row)).as(label + " takes " + row).isTrue();
        }

        private void checkKeyed(List<List<String>> before, List<Change> changes) {
            Map<List<String>, List<String>> start = byKey(before);
            Map<List<String>, List<String>> end = byKey(rows);
            Map<List<String>, List<String>> state = new LinkedHashMap<>(start);
            Map<List<String>, Change> keysSeen = new LinkedHashMap<>();
            boolean upserts = false;
            for (Change change : changes) {
                upserts = apply(change, start, state, keysSeen, upserts);
            }
            assertThat(new TreeMap<>(print(state, end))).as(label).isEqualTo(new TreeMap<>(print(end, end)));
            // a key without a row on both sides must not be mentioned
            for (List<String> key : keysSeen.keySet()) {
                boolean held = start.containsKey(key) && !truncated;
                assertThat(held || end.containsKey(key))
                        .as(label + " mentions " + key)
                        .isTrue();
            }
        }

        private boolean apply(
                Change change,
                Map<List<String>, List<String>> start,
                Map<List<String>, List<String>> state,
                Map<List<String>, Change> keysSeen,
                boolean upserts) {
            switch (change) {
                case Change.Truncate t -> {
                    assertThat(upserts).as(label).isFalse();
                    state.clear();
                }
                case Change.Delete(var relation, var old) -> {
                    assertThat(upserts).as(label).isFalse();
                    once(keysSeen, key(Rows.values(old)), change);
                    agrees(start, Rows.values(old));
                    assertThat(state.remove(key(Rows.values(old)))).as(label).isNotNull();
                }
                case Change.Insert(var relation, var row) -> {
                    once(keysSeen, key(Rows.values(row)), change);
                    assertThat(state.put(key(Rows.values(row)), Rows.values(row)))
                            .as(label)
                            .isNull();
                    return true;
                }
                case Change.Update(var relation, var old, var row) -> {
                    List<String> after = Rows.values(row);
                    List<String> oldKey = old == null ? key(after) : key(Rows.values(old));
                    once(keysSeen, key(after), change);
                    if (!oldKey.equals(key(after))) {
                        once(keysSeen, oldKey, change);
                    }
                    if (old != null) {
                        agrees(start, Rows.values(old));
                    }
                    List<String> previous = state.remove(oldKey);
                    assertThat(previous).as(label + " " + Rows.print(change)).isNotNull();
                    Collections.replaceAll(
                            after,
                            Rows.UNCHANGED,
                            java.util.Objects.requireNonNull(previous).get(3));
                    assertThat(state.put(key(after), after)).as(label).isNull();
                    return true;
                }
            }
            return upserts;
        }

        private void once(Map<List<String>, Change> keysSeen, List<String> key, Change change) {
            assertThat(keysSeen.put(key, change)).as(label + " twice at " + key).isNull();
        }

        /// What is known of an old tuple must be what the row was before.
        private void agrees(Map<List<String>, List<String>> start, List<String> old) {
            List<String> row = start.get(key(old));
            assertThat(row).as(label).isNotNull();
            for (int i = 0; i < 4; i++) {
                if (!old.get(i).equals(Rows.NOT_SENT)) {
                    assertThat(old.get(i))
                            .as(label)
                            .isEqualTo(java.util.Objects.requireNonNull(row).get(i));
                }
            }
        }

        /// What is not known of a row is taken from the truth; nothing else is.
        private static Map<String, List<String>> print(
                Map<List<String>, List<String>> state, Map<List<String>, List<String>> truth) {
            Map<String, List<String>> printed = new LinkedHashMap<>();
            state.forEach((key, row) -> {
                List<String> copy = new ArrayList<>(row);
                List<String> real = truth.get(key);
                if (copy.get(3).equals(Rows.NOT_SENT) && real != null) {
                    copy.set(3, real.get(3));
                }
                printed.put(key.toString(), copy);
            });
            return printed;
        }

        private Map<List<String>, List<String>> byKey(List<List<String>> list) {
            Map<List<String>, List<String>> map = new LinkedHashMap<>();
            for (List<String> row : list) {
                map.put(key(row), row);
            }
            return map;
        }
    }
}
