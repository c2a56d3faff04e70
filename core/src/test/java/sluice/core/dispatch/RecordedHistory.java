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
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.catalog.Stamp;
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
    /// @param emptied names of the tables it truncates
    record Commit(int moment, Xid xid, Lsn lsn, Lsn end, List<byte[]> messages, Set<String> emptied) {
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

        /// Whether each value of the image is the one it has. What the image leaves out may be anything.
        boolean matches(JsonNode image) {
            for (Map.Entry<String, JsonNode> value : image.properties()) {
                if (!value.getValue().equals(json.get(value.getKey()))) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Recording recording;
    private final CatalogImage.Dictionary dictionary;
    private final List<List<Relation>> relations = new ArrayList<>();
    private final List<Version> versions = new ArrayList<>();
    private final List<Map<String, Map<Integer, Version>>> rows = new ArrayList<>();
    private final List<Commit> commits = new ArrayList<>();
    private final List<Caller> callers;
    private final List<Stamp> stamps = new ArrayList<>();
    private final List<CatalogImage> catalogs = new ArrayList<>();
    private final Map<String, FoldAnswer> folds = new LinkedHashMap<>();
    private final Map<String, Boolean> decidedInProcess = new LinkedHashMap<>();
    private final RlsResolver resolver = new RlsResolver(ProbePermission.ALLOW);
    private final IdentityHashMap<Relation, Map<String, RulePlan>> plans = new IdentityHashMap<>();

    /// What the recorder wrote each catalog as.
    private record Relations(List<Relation> relations) {}

    private RecordedHistory(Recording recording) throws IOException {
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
                    fold.raised() == null ? new FoldAnswer.Value(fold.text()) : new FoldAnswer.Raised(fold.raised()));
        }
        PgOutputDecoder decoder = new PgOutputDecoder();
        for (State state : recording.states()) {
            Map<String, Map<Integer, Version>> byTable = new LinkedHashMap<>();
            state.tables().forEach((name, table) -> {
                Map<Integer, Version> byId = new TreeMap<>();
                table.rows().forEach(place -> byId.put(versions.get(place).row().id(), versions.get(place)));
                byTable.put(name, byId);
            });
            rows.add(byTable);
            Stamp stamp = new Stamp(TransactionSnapshot.parse(state.snapshot()), Lsn.parse(state.insertLsn()));
            stamps.add(stamp);
            catalogs.add(new CatalogImage(stamp, relations.get(state.catalog()), dictionary, state.rights()));
            commits.add(commit(commits.size(), state, decoder));
        }
    }

    /// @param name of a resource
    static RecordedHistory of(String name) {
        try (InputStream in = Objects.requireNonNull(RecordedHistory.class.getResourceAsStream(name), name)) {
            return new RecordedHistory(Recording.read(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Commit commit(int moment, State state, PgOutputDecoder decoder) {
        Lsn lsn = Lsn.parse(state.insertLsn());
        Lsn end = lsn;
        List<byte[]> messages = new ArrayList<>();
        Set<String> emptied = new LinkedHashSet<>();
        for (String hex : state.messages()) {
            byte[] bytes = HexFormat.of().parseHex(hex);
            messages.add(bytes);
            switch (decoder.decode(bytes, 0, bytes.length)) {
                case PgOutputMessage.Begin begin -> lsn = begin.finalLsn();
                case PgOutputMessage.Commit commit -> end = commit.endLsn();
                case PgOutputMessage.Truncate(var tables) -> tables.forEach(table -> emptied.add(table.name()));
                case PgOutputMessage.Insert _,
                        PgOutputMessage.Update _,
                        PgOutputMessage.Delete _,
                        PgOutputMessage.Relation _,
                        PgOutputMessage.Message _,
                        PgOutputMessage.Origin _,
                        PgOutputMessage.Type _ -> {}
            }
        }
        return new Commit(moment, new Xid(state.xid()), lsn, end, messages, emptied);
    }

    int last() {
        return commits.size() - 1;
    }

    List<Caller> callers() {
        return callers;
    }

    List<Recording.Table> tables() {
        return recording.tables();
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
        return recording.states().get(moment);
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
                        dictionary);
        };
    }

    /// What the product composes from the catalog, once for all worlds: it is the same each time.
    RulePlan plan(CatalogImage catalog, Relation relation, Role role, PinnedColumns pinned) {
        return plans.computeIfAbsent(relation, _ -> new LinkedHashMap<>())
                .computeIfAbsent(
                        role.name() + " " + pinned.textByAttnum(), _ -> resolver.plan(catalog, relation, role, pinned));
    }

    /// @return null when it was never asked
    @Nullable
    FoldAnswer fold(Caller caller, String sql) {
        return folds.get(callers().indexOf(caller) + " " + sql);
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
        return decidedInProcess.computeIfAbsent(state(moment).catalog() + " " + table + " " + caller.role(), _ -> {
            CatalogImage catalog = catalog(moment, new CatalogScope.Everything());
            Relation relation = Objects.requireNonNull(catalog.relation("public", table));
            Role role = Objects.requireNonNull(catalog.role(caller.role()));
            return resolver.forecast(catalog, relation, role).tier() != Tier.C;
        });
    }

    boolean logsOldRows(String table) {
        Relation relation =
                Objects.requireNonNull(catalog(0, new CatalogScope.Everything()).relation("public", table));
        return relation.identity() instanceof ReplicaIdentity.Full;
    }
}
