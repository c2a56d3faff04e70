package sluice.core.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.PinnedColumns;
import sluice.core.authorization.ProbePermission;
import sluice.core.authorization.RlsResolver;
import sluice.core.authorization.RulePlan;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
import sluice.core.catalog.Succession;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.expression.FoldAnswer;
import sluice.core.pgoutput.PgOutputDecoder;
import sluice.core.pgoutput.PgOutputMessage;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;
import sluice.core.wal.Xid;
import sluice.testkit.recorded.Recording;
import sluice.testkit.recorded.Recording.Row;
import sluice.testkit.recorded.Recording.State;
import sluice.testkit.recorded.Recording.View;

/// A recording, read: what PostgreSQL did, and what it said after each commit. Never changed once made.
///
/// Moments are counted by commits: 0 is before the first, and the last is that of the last commit.
final class RecordedHistory {
    /// One commit.
    ///
    /// @param lsn of a commit without messages where the log stood after it
    /// @param messages as the slot gave them
    /// @param definitions of tables, as they were announced before it
    /// @param changed names of the tables it changes
    /// @param emptied names of the tables it truncates
    /// @param said in channels, in order
    record Commit(
            int moment,
            Xid xid,
            Lsn lsn,
            Lsn end,
            List<byte[]> messages,
            Map<Integer, byte[]> definitions,
            Set<String> changed,
            Set<String> emptied,
            List<SimRoom.Said> said)
            implements SimLine.Committed {
        boolean isInLog() {
            return !messages.isEmpty();
        }
    }

    /// A version of a row.
    ///
    /// @param place names it
    record Version(int place, Row row, JsonNode json) {
        boolean isAdmitted(int filter) {
            return filter < 0 || row.admittedBy().contains(filter);
        }

        /// Whether it was written by another statement than the other one. A column that comes, goes or gets
        /// another name leaves it the same.
        boolean differs(@Nullable Version other) {
            return other == null || row.id() != other.row.id() || number() != other.number();
        }

        private int number() {
            return json.get("version").asInt();
        }
    }

    /// Another server that goes on with the first moments.
    ///
    /// @param after the last moment that both have
    /// @param leftAt where the log of one leaves that of the other
    record Fork(RecordedHistory history, int after, Lsn leftAt) {}

    /// What all servers of a recording have in common.
    private static final class Common {
        final Recording recording;
        final CatalogImage.Dictionary dictionary;
        final List<List<Relation>> relations = new ArrayList<>();
        final List<Version> versions = new ArrayList<>();
        final List<Caller> callers;
        final Map<String, FoldAnswer> folds = new LinkedHashMap<>();
        final Map<String, Boolean> decidedInProcess = new LinkedHashMap<>();
        final RlsResolver resolver = new RlsResolver(ProbePermission.ALLOW);
        final IdentityHashMap<Relation, Map<String, RulePlan>> plans = new IdentityHashMap<>();

        Common(Recording recording) throws IOException {
            this.recording = recording;
            ObjectMapper mapper = Recording.mapper();
            this.dictionary = mapper.treeToValue(recording.dictionary(), CatalogImage.Dictionary.class);
            for (JsonNode catalog : recording.catalogs()) {
                relations.add(mapper.treeToValue(catalog, Relations.class).relations());
            }
            this.callers = recording.callers().stream()
                    .map(caller -> new Caller(caller.subject(), caller.org(), caller.role()))
                    .toList();
            for (Row row : recording.rows()) {
                versions.add(new Version(versions.size(), row, SimStream.json(row.json())));
            }
            for (Recording.Fold fold : recording.folds()) {
                folds.put(
                        fold.caller() + " " + fold.sql(),
                        fold.raised() == null
                                ? new FoldAnswer.Value(fold.text())
                                : new FoldAnswer.Raised(fold.raised()));
            }
        }
    }

    /// What the recorder wrote each catalog as.
    private record Relations(List<Relation> relations) {}

    private final Common common;
    private final List<State> states;
    private final List<Map<String, Map<Integer, Version>>> rows = new ArrayList<>();
    private final List<Commit> commits = new ArrayList<>();
    private final List<Stamp> stamps = new ArrayList<>();
    private final List<CatalogImage> catalogs = new ArrayList<>();
    private final Map<String, Xid> versions = new LinkedHashMap<>();
    private final Map<Integer, Map<String, List<Xid>>> runs = new LinkedHashMap<>();
    private final @Nullable Fork fork;

    private RecordedHistory(Common common, List<State> states, @Nullable Fork fork) {
        this.common = common;
        this.states = states;
        this.fork = fork;
        PgOutputDecoder decoder = new PgOutputDecoder();
        Map<Integer, byte[]> definitions = new LinkedHashMap<>();
        for (State state : states) {
            Map<String, Map<Integer, Version>> byTable = new LinkedHashMap<>();
            state.tables().forEach((name, table) -> {
                Map<Integer, Version> byId = new TreeMap<>();
                table.rows().forEach(place -> {
                    Version version = common.versions.get(place);
                    byId.put(version.row().id(), version);
                });
                byTable.put(name, byId);
            });
            rows.add(byTable);
            Stamp stamp = new Stamp(TransactionSnapshot.parse(state.snapshot()), Lsn.parse(state.insertLsn()));
            stamps.add(stamp);
            List<Relation> relations = common.relations.get(state.catalog());
            note(relations);
            catalogs.add(new CatalogImage(stamp, relations, common.dictionary, state.rights(), succession()));
            commits.add(commit(commits.size(), state, decoder, definitions));
        }
    }

    /// The catalog is read after each commit, so what a version is now replaced the one it was.
    private void note(List<Relation> relations) {
        for (Relation relation : relations) {
            Map<String, List<Xid>> replaced = runs.computeIfAbsent(relation.oid(), _ -> new LinkedHashMap<>());
            relation.rightVersions().forEach((right, version) -> {
                Xid before = versions.put(relation.oid() + right, version);
                if (before != null && !before.equals(version)) {
                    replaced.put(right, List.of(before, version));
                }
            });
        }
    }

    private Succession succession() {
        Map<Integer, Map<String, List<Xid>>> copied = new LinkedHashMap<>();
        runs.forEach((oid, replaced) -> copied.put(oid, new LinkedHashMap<>(replaced)));
        return new Succession(copied);
    }

    /// @param name of a resource
    static RecordedHistory of(String name) {
        try (InputStream in = Objects.requireNonNull(RecordedHistory.class.getResourceAsStream(name), name)) {
            Recording recording = Recording.read(in);
            Common common = new Common(recording);
            return new RecordedHistory(common, recording.states(), fork(common, recording));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable Fork fork(Common common, Recording recording) {
        Recording.Fork recorded = recording.fork();
        if (recorded == null) {
            return null;
        }
        List<State> states = new ArrayList<>(recording.states().subList(0, recorded.after() + 1));
        states.addAll(recorded.states());
        return new Fork(new RecordedHistory(common, states, null), recorded.after(), Lsn.parse(recorded.leftAt()));
    }

    /// @param definitions as they were announced so far
    private static Commit commit(int moment, State state, PgOutputDecoder decoder, Map<Integer, byte[]> definitions) {
        Map<Integer, byte[]> before = new LinkedHashMap<>(definitions);
        Lsn lsn = Lsn.parse(state.insertLsn());
        Lsn end = lsn;
        List<byte[]> messages = new ArrayList<>();
        Set<String> changed = new LinkedHashSet<>();
        Set<String> emptied = new LinkedHashSet<>();
        List<SimRoom.Said> said = new ArrayList<>();
        for (String hex : state.messages()) {
            byte[] bytes = HexFormat.of().parseHex(hex);
            messages.add(bytes);
            switch (decoder.decode(bytes, 0, bytes.length)) {
                case PgOutputMessage.Begin begin -> lsn = begin.finalLsn();
                case PgOutputMessage.Commit commit -> end = commit.endLsn();
                case PgOutputMessage.Truncate(var tables) ->
                    tables.forEach(table -> {
                        changed.add(table.name());
                        emptied.add(table.name());
                    });
                case PgOutputMessage.Message message -> said.add(SimRoom.Said.of(lsn, message));
                case PgOutputMessage.Insert insert ->
                    changed.add(insert.relation().name());
                case PgOutputMessage.Update update ->
                    changed.add(update.relation().name());
                case PgOutputMessage.Delete delete ->
                    changed.add(delete.relation().name());
                case PgOutputMessage.Relation(var definition) -> definitions.put(definition.oid(), bytes);
                case PgOutputMessage.Origin _, PgOutputMessage.Type _ -> {}
            }
        }
        return new Commit(moment, new Xid(state.xid()), lsn, end, messages, before, changed, emptied, said);
    }

    /// The server that may take over; null when there is none.
    @Nullable
    Fork fork() {
        return fork;
    }

    int last() {
        return commits.size() - 1;
    }

    List<Caller> callers() {
        return common.callers;
    }

    List<Recording.Table> tables() {
        return common.recording.tables();
    }

    Commit commit(int moment) {
        return commits.get(moment);
    }

    /// @return null when nothing was committed there
    @Nullable
    Commit at(Lsn commitLsn) {
        for (Commit commit : commits) {
            if (commit.isInLog() && commit.lsn().equals(commitLsn)) {
                return commit;
            }
        }
        return null;
    }

    // ---- what SQL said

    private State state(int moment) {
        return states.get(moment);
    }

    Lsn insertLsn(int moment) {
        return stamp(moment).insertLsn();
    }

    Stamp stamp(int moment) {
        return stamps.get(moment);
    }

    String rights(int moment) {
        return state(moment).rights();
    }

    CatalogImage catalog(int moment, CatalogScope scope) {
        CatalogImage all = catalogs.get(moment);
        return switch (scope) {
            case CatalogScope.Everything() -> all;
            case CatalogScope.Tables(var oids) ->
                new CatalogImage(
                        stamp(moment),
                        all.relations().stream()
                                .filter(relation -> oids.contains(relation.oid()))
                                .toList(),
                        common.dictionary,
                        null,
                        all.succession());
        };
    }

    /// The table as it was defined.
    Relation relation(int moment, String table) {
        return Objects.requireNonNull(catalogs.get(moment).relation("public", table));
    }

    /// The last moment whose snapshot it is; the last of all for one of another server.
    int moment(TransactionSnapshot snapshot) {
        for (int i = last(); i > 0; i--) {
            if (stamp(i).snapshot().equals(snapshot)) {
                return i;
            }
        }
        return last();
    }

    /// The moment of the last commit that ends there or before.
    int moment(Lsn reached) {
        int moment = 0;
        while (moment < last() && !commit(moment + 1).end().isAfter(reached)) {
            moment++;
        }
        return moment;
    }

    /// What columns were called at one moment, and what they were called at another. Without a name where there was
    /// none.
    @Nullable
    String renamed(String table, String column, int from, int to) {
        Column known = relation(from, table).column(column);
        Column then = known == null ? null : relation(to, table).column(known.attnum());
        return then == null ? null : then.name();
    }

    /// What the product composes from the catalog, once for all worlds: it is the same each time.
    RulePlan plan(CatalogImage catalog, Relation relation, Role role, PinnedColumns pinned) {
        return common.plans
                .computeIfAbsent(relation, _ -> new LinkedHashMap<>())
                .computeIfAbsent(
                        role.name() + " " + pinned.textByAttnum(),
                        _ -> common.resolver.plan(catalog, relation, role, pinned));
    }

    /// @return null when it was never asked
    @Nullable
    FoldAnswer fold(Caller caller, String sql) {
        return common.folds.get(callers().indexOf(caller) + " " + sql);
    }

    /// The rows there were, by id.
    Map<Integer, Version> rows(int moment, String table) {
        return Objects.requireNonNull(rows.get(moment).get(table));
    }

    private Recording.TableState table(int moment, String table) {
        return Objects.requireNonNull(state(moment).tables().get(table));
    }

    int rightsSerial(int moment, String table) {
        return table(moment, table).rightsSerial();
    }

    View view(int moment, String table, Caller caller) {
        return table(moment, table).views().get(callers().indexOf(caller));
    }

    boolean sees(Caller caller, int moment, String table, int id) {
        return view(moment, table, caller).ids().contains(id);
    }

    /// Whether the caller's rule is decided without asking about rows.
    boolean isDecidedInProcess(int moment, String table, Caller caller) {
        return common.decidedInProcess.computeIfAbsent(
                state(moment).catalog() + " " + table + " " + caller.role(), _ -> {
                    CatalogImage catalog = catalog(moment, new CatalogScope.Everything());
                    Relation relation = Objects.requireNonNull(catalog.relation("public", table));
                    Role role = Objects.requireNonNull(catalog.role(caller.role()));
                    return common.resolver.forecast(catalog, relation, role).tier() != Tier.C;
                });
    }

    boolean logsOldRows(String table) {
        Relation relation =
                Objects.requireNonNull(catalog(0, new CatalogScope.Everything()).relation("public", table));
        return relation.identity() instanceof ReplicaIdentity.Full;
    }
}
