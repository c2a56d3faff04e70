package sluice.core.dispatch;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Stamp;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.value.Oid;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;

/// A PostgreSQL of two tables, a membership table and movable rights, which remembers every state it was in.
///
/// Commits enter the log at once and are shown to SQL later, in another order where no lock forbids it: what one
/// transaction touched, no other touches before SQL shows the first.
final class SimDatabase {
    static final int KEYS = 6;

    @SuppressWarnings("ImmutableEnumChecker") // nobody writes to a definition
    enum Table {
        NOTES("notes", 16_400, 'd'),
        TASKS("tasks", 16_500, 'f');

        private final String relation;

        final int oid;
        final RelationDefinition definition;

        Table(String relation, int oid, char identity) {
            this.relation = relation;
            this.oid = oid;
            this.definition = new RelationDefinition(
                    oid,
                    "public",
                    relation,
                    identity,
                    List.of(
                            new RelationDefinition.Column("id", Oid.INT4, -1, true),
                            new RelationDefinition.Column("owner", Oid.TEXT, -1, identity == 'f'),
                            new RelationDefinition.Column("kind", Oid.TEXT, -1, identity == 'f'),
                            new RelationDefinition.Column("version", Oid.INT4, -1, identity == 'f')));
        }

        String relation() {
            return relation;
        }

        boolean logsOldRows() {
            return definition.identity() == 'f';
        }

        static Table of(int oid) {
            return oid == NOTES.oid ? NOTES : TASKS;
        }

        static Table of(String name) {
            return name.equals("notes") ? NOTES : TASKS;
        }
    }

    /// A row image. No two have the same version.
    record Row(int id, @Nullable String owner, @Nullable String kind, int version) {
        Tuple tuple() {
            return World.tuple(String.valueOf(id), owner, kind, String.valueOf(version));
        }

        Tuple key() {
            return World.tuple(String.valueOf(id), World.NOT_SENT, World.NOT_SENT, World.NOT_SENT);
        }
    }

    /// @param serial counts the moves of the table's rights
    record Rights(SimPolicy policy, List<Integer> granted, int serial, Xid policyWriter, Xid grantWriter) {}

    /// What the database holds at one moment. Never changed once made.
    record State(Map<Table, Map<Integer, Row>> rows, Map<Table, Rights> rights, Set<String> members) {
        State copy() {
            Map<Table, Map<Integer, Row>> copied = new EnumMap<>(Table.class);
            rows.forEach((table, byId) -> copied.put(table, new TreeMap<>(byId)));
            return new State(copied, new EnumMap<>(rights), new TreeSet<>(members));
        }

        Map<Integer, Row> of(Table table) {
            return rows.getOrDefault(table, new TreeMap<>());
        }

        Rights rightsOf(Table table) {
            return java.util.Objects.requireNonNull(rights.get(table));
        }
    }

    /// One committed transaction.
    static final class Commit implements SimLine.Committed {
        final Xid xid;
        final Lsn lsn;
        final Instant time;
        final State before;
        final State after;
        final Set<String> touched = new LinkedHashSet<>();
        final Set<Table> truncated = EnumSet.noneOf(Table.class);
        final List<PgOutputMessage> changes = new ArrayList<>();
        private final List<java.util.function.Consumer<State>> deltas = new ArrayList<>();
        boolean shown;
        /// Counted when the engine dispatches it.
        boolean dispatched;

        Commit(Xid xid, Lsn lsn, Instant time, State before) {
            this.xid = xid;
            this.lsn = lsn;
            this.time = time;
            this.before = before;
            this.after = before.copy();
        }

        @Override
        public Lsn lsn() {
            return lsn;
        }

        @Override
        public Lsn end() {
            return new Lsn(lsn.bits() + 0x80);
        }

        boolean touches(Table table) {
            return changes.stream().anyMatch(change -> relations(change).contains(table.definition));
        }

        private void apply(java.util.function.Consumer<State> delta) {
            delta.accept(after);
            deltas.add(delta);
        }
    }

    static List<RelationDefinition> relations(PgOutputMessage change) {
        return switch (change) {
            case PgOutputMessage.Insert(var relation, var _) -> List.of(relation);
            case PgOutputMessage.Update(var relation, var _, var _) -> List.of(relation);
            case PgOutputMessage.Delete(var relation, var _) -> List.of(relation);
            case PgOutputMessage.Truncate(var relations) -> relations;
            case PgOutputMessage.Begin _,
                    PgOutputMessage.Commit _,
                    PgOutputMessage.Relation _,
                    PgOutputMessage.Message _,
                    PgOutputMessage.Origin _,
                    PgOutputMessage.Type _ -> List.of();
        };
    }

    private final Random random;
    private State initial;
    final List<Commit> commits = new ArrayList<>();
    private final List<Integer> begun = new ArrayList<>();
    private int nextXid = 1_000;
    private long lsn = 0x1000;
    private int version;
    private final List<Row> everyRow = new ArrayList<>();

    SimDatabase(Random random) {
        this.random = random;
        Map<Table, Map<Integer, Row>> rows = new EnumMap<>(Table.class);
        Map<Table, Rights> rights = new EnumMap<>(Table.class);
        for (Table table : Table.values()) {
            rows.put(table, new TreeMap<>());
            rights.put(table, new Rights(pick(SimPolicy.values()), List.of(1, 2, 3, 4), 0, new Xid(900), new Xid(900)));
        }
        initial = new State(rows, rights, new TreeSet<>(List.of("alice/x", "bob/y")));
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }

    State latest() {
        return commits.isEmpty() ? initial : commits.getLast().after;
    }

    Lsn insertLsn() {
        return new Lsn(lsn + 0x90);
    }

    /// @return null when the log holds no such commit
    @Nullable
    Commit at(Lsn commitLsn) {
        for (int i = commits.size() - 1; i >= 0; i--) {
            if (commits.get(i).lsn.equals(commitLsn)) {
                return commits.get(i);
            }
        }
        return null;
    }

    /// All that commits said, in order.
    List<SimRoom.Said> said() {
        List<SimRoom.Said> said = new ArrayList<>();
        for (Commit commit : commits) {
            for (PgOutputMessage change : commit.changes) {
                if (change instanceof PgOutputMessage.Message message) {
                    said.add(SimRoom.Said.of(commit.lsn, message));
                }
            }
        }
        return said;
    }

    // ---- what SQL shows

    Stamp stamp() {
        return new Stamp(snapshot(), insertLsn());
    }

    private TransactionSnapshot snapshot() {
        int highest = 999;
        for (Commit commit : commits) {
            highest = commit.shown ? Math.max(highest, commit.xid.bits()) : highest;
        }
        Set<Long> running = new TreeSet<>();
        for (int xid : begun) {
            if (xid <= highest) {
                running.add((long) xid);
            }
        }
        for (Commit commit : commits) {
            if (!commit.shown && commit.xid.bits() <= highest) {
                running.add((long) commit.xid.bits());
            }
        }
        long xmin = running.isEmpty() ? highest + 1L : running.iterator().next();
        return new TransactionSnapshot(xmin, highest + 1L, new ArrayList<>(running));
    }

    /// The state SQL shows now.
    State shown() {
        State state = initial.copy();
        for (Commit commit : commits) {
            if (commit.shown) {
                commit.deltas.forEach(delta -> delta.accept(state));
            }
        }
        return state;
    }

    List<Commit> hidden() {
        return commits.stream().filter(commit -> !commit.shown).toList();
    }

    void showAll() {
        commits.forEach(commit -> commit.shown = true);
    }

    // ---- transactions

    private Xid xid() {
        if (random.nextInt(6) == 0) {
            begun.add(nextXid++);
        }
        if (!begun.isEmpty() && random.nextInt(3) == 0) {
            return new Xid(begun.remove(/* index */ random.nextInt(begun.size())));
        }
        return new Xid(nextXid++);
    }

    private Commit begin(Instant now) {
        lsn += 0x100;
        return new Commit(xid(), new Lsn(lsn), now, latest());
    }

    private boolean isLocked(Predicate<String> touched) {
        for (Commit commit : commits) {
            if (!commit.shown && commit.touched.stream().anyMatch(touched)) {
                return true;
            }
        }
        return false;
    }

    private void end(Commit commit) {
        commits.add(commit);
        commit.shown = random.nextInt(4) != 0;
    }

    /// Random rows of random tables. Null when locks left nothing to do.
    @Nullable
    Commit write(Instant now, int statements) {
        Commit commit = begin(now);
        for (int i = 0; i < statements; i++) {
            write(commit, pick(Table.values()));
            if (random.nextInt(8) == 0) {
                say(commit);
            }
        }
        if (commit.changes.isEmpty()) {
            return null;
        }
        end(commit);
        return commit;
    }

    private void say(Commit commit) {
        String channel = SimRoom.CHANNELS.get(random.nextInt(SimRoom.CHANNELS.size()));
        byte[] text = ("said " + ++version).getBytes(java.nio.charset.StandardCharsets.UTF_8);
        everyRow.add(new Row(0, null, null, version));
        commit.changes.add(new PgOutputMessage.Message(true, commit.lsn, "sluice:" + channel, text));
    }

    private void write(Commit commit, Table table) {
        int id = random.nextInt(KEYS);
        String all = table + " all";
        String key = table + " " + id;
        String rights = table + " rights";
        if (isLocked(lock -> lock.equals(key) || lock.equals(all) || lock.equals(rights))) {
            return;
        }
        Row row = commit.after.of(table).get(id);
        if (random.nextInt(40) == 0) {
            truncate(commit, table);
        } else if (row == null) {
            put(commit, table, null, fresh(id));
        } else if (random.nextInt(5) == 0) {
            commit.touched.add(key);
            commit.apply(state -> state.of(table).remove(id));
            commit.changes.add(
                    new PgOutputMessage.Delete(table.definition, table.logsOldRows() ? row.tuple() : row.key()));
        } else {
            int other = random.nextInt(6) == 0 ? random.nextInt(KEYS) : id;
            String otherKey = table + " " + other;
            boolean free = other == id || commit.after.of(table).get(other) == null;
            if (free && !isLocked(lock -> lock.equals(otherKey))) {
                commit.touched.add(key);
                put(commit, table, row, changed(other, row));
            }
        }
    }

    private void put(Commit commit, Table table, @Nullable Row old, Row row) {
        commit.touched.add(table + " " + row.id());
        commit.apply(state -> {
            if (old != null) {
                state.of(table).remove(old.id());
            }
            state.of(table).put(row.id(), row);
        });
        if (old == null) {
            commit.changes.add(new PgOutputMessage.Insert(table.definition, row.tuple()));
        } else {
            Tuple before = table.logsOldRows() ? old.tuple() : old.id() == row.id() ? null : old.key();
            commit.changes.add(new PgOutputMessage.Update(table.definition, before, row.tuple()));
        }
    }

    private void truncate(Commit commit, Table table) {
        String prefix = table + " ";
        if (isLocked(lock -> lock.startsWith(prefix))) {
            return;
        }
        commit.touched.add(table + " all");
        for (int id = 0; id < KEYS; id++) {
            commit.touched.add(prefix + id);
        }
        commit.truncated.add(table);
        commit.apply(state -> state.of(table).clear());
        commit.changes.add(new PgOutputMessage.Truncate(List.of(table.definition)));
    }

    private Row fresh(int id) {
        return made(new Row(id, owner(), kind(), ++version));
    }

    private Row changed(int id, Row row) {
        return made(
                switch (random.nextInt(3)) {
                    case 0 -> new Row(id, owner(), row.kind(), ++version);
                    case 1 -> new Row(id, row.owner(), kind(), ++version);
                    default -> new Row(id, row.owner(), row.kind(), ++version);
                });
    }

    private Row made(Row row) {
        everyRow.add(row);
        return row;
    }

    Row version(int number) {
        return everyRow.get(number - 1);
    }

    private @Nullable String owner() {
        return switch (random.nextInt(4)) {
            case 0 -> null;
            case 1 -> "bob";
            default -> "alice";
        };
    }

    private @Nullable String kind() {
        return switch (random.nextInt(5)) {
            case 0 -> null;
            case 1, 2 -> "y";
            default -> "x";
        };
    }

    /// Moves the rights of a table, which locks it: what waits to be shown is waited for, and what comes waits.
    /// Null when a lock forbids it.
    @Nullable
    Commit moveRights(Instant now, Table table) {
        String lock = table + " rights";
        String prefix = table + " ";
        if (isLocked(touched -> touched.startsWith(prefix))) {
            return null;
        }
        Commit commit = begin(now);
        commit.touched.add(lock);
        Rights before = latest().rightsOf(table);
        boolean policy = random.nextInt(3) != 0;
        SimPolicy next = policy ? pick(SimPolicy.values()) : before.policy();
        List<Integer> granted = policy
                ? before.granted()
                : List.of(List.of(1, 2, 3, 4), List.of(1, 2, 4), List.of(1, 3, 4))
                        .get(random.nextInt(3));
        Rights rights = new Rights(
                next,
                granted,
                before.serial() + 1,
                policy ? commit.xid : before.policyWriter(),
                policy ? before.grantWriter() : commit.xid);
        commit.apply(state -> state.rights().put(table, rights));
        end(commit);
        return commit;
    }

    /// Moves what a Tier C rule reads. Null when a lock forbids it.
    @Nullable
    Commit moveMembers(Instant now) {
        String member = (random.nextBoolean() ? "alice" : "bob") + (random.nextBoolean() ? "/x" : "/y");
        if (isLocked(member::equals)) {
            return null;
        }
        Commit commit = begin(now);
        commit.touched.add(member);
        boolean leaves = latest().members().contains(member);
        commit.apply(state -> {
            if (leaves) {
                state.members().remove(member);
            } else {
                state.members().add(member);
            }
        });
        end(commit);
        // the log says nothing of this table: nobody could know that SQL has yet to show it
        commit.shown = true;
        return commit;
    }

    /// The server is failed over to one that lacks the latest so many commits.
    ///
    /// @return where its history leaves the one before
    Lsn failOver(int lost) {
        for (int i = 0; i < lost; i++) {
            commits.removeLast();
        }
        begun.clear();
        commits.forEach(commit -> commit.shown = true);
        lsn = commits.isEmpty() ? 0x1000 : commits.getLast().lsn.bits();
        int highest = 999;
        for (Commit commit : commits) {
            highest = Math.max(highest, commit.xid.bits());
        }
        nextXid = highest + 1;
        return new Lsn(lsn + 0x80);
    }

    /// What the rights poll says of a state.
    static String fingerprint(State state) {
        Map<Table, Integer> serials = new LinkedHashMap<>();
        state.rights().forEach((table, rights) -> serials.put(table, rights.serial()));
        return serials.toString();
    }
}
