package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Index;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.catalog.ServerOperators;
import sluice.core.catalog.Stamp;
import sluice.core.dispatch.SimDatabase.Rights;
import sluice.core.dispatch.SimDatabase.Row;
import sluice.core.dispatch.SimDatabase.State;
import sluice.core.dispatch.SimDatabase.Table;
import sluice.core.dispatch.SimPolicy.Caller;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.expression.RowImage;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.session.Identity;
import sluice.core.shape.Projection;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.transaction.Change;
import sluice.core.transaction.KeptCommit;
import sluice.core.transaction.KeptKeys;
import sluice.core.transaction.SpillException;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.value.Truth;
import sluice.core.wal.Xid;

/// What SQL answers in the simulation, from the state it shows at the moment of the question.
final class SimServer {
    private static final Pattern LITERAL = Pattern.compile("'([^']*)'::");

    /// Rows that were read, and the snapshot they are of.
    static final class Spool implements SnapshotSpool {
        final List<EventBody> rows = new ArrayList<>();
        final Stamp stamp;

        Spool(Stamp stamp) {
            this.stamp = stamp;
        }
    }

    private final SimDatabase database;
    private final Random random;

    SimServer(SimDatabase database, Random random) {
        this.database = database;
        this.random = random;
    }

    Input answer(Effect effect) {
        boolean fails = random.nextInt(12) == 0;
        return switch (effect) {
            case Effect.LoadCatalog(var id, var scope) -> new Input.CatalogAnswer(id, fails ? null : catalog(scope));
            case Effect.PollRights() ->
                fails
                        ? new Input.RightsAnswer(null)
                        : new Input.RightsAnswer(SimDatabase.fingerprint(database.shown()), database.stamp());
            case Effect.AskFolds(var id, var caller, var folds) ->
                new Input.FoldsAnswer(
                        id,
                        fails
                                ? null
                                : folds.stream().map(fold -> fold(caller, fold)).toList());
            case Effect.Probe probe -> new Input.ProbeAnswer(probe.probeId(), probe(probe, fails));
            case Effect.CrossCheck(var probe) -> new Input.CrossCheckAnswer(probe.probeId(), probe(probe, fails));
            case Effect.LeaseCheck(var probe) -> new Input.LeaseAnswer(probe.probeId(), probe(probe, fails));
            case Effect.ReadSnapshot read -> new Input.SnapshotRead(read.joinId(), read(read, fails));
            case Effect.TakeRows take -> take(take, random, fails);
            case Effect.ReadPiece read -> read(read, random, fails);
            case Effect.ReadKeys read -> read(read, random, fails);
            case Effect.DropKept _,
                    Effect.MoveLog _,
                    Effect.DropSpool _,
                    Effect.UseCatalog _,
                    Effect.Confirm _,
                    Effect.Counted _,
                    Effect.AskHook _,
                    Effect.Answered _,
                    Effect.Log _ -> throw new IllegalArgumentException(effect.toString());
        };
    }

    /// A piece of a kept commit; of a file that is gone, or now and then, nothing.
    static Input read(Effect.ReadPiece read, Random random, boolean fails) {
        return new Input.PieceRead(
                read.readId(), fails && random.nextInt(4) == 0 ? null : piece(read.kept(), read.piece()));
    }

    /// Which rows a kept commit changed; of a file that is gone, or now and then, nobody knows.
    static Input read(Effect.ReadKeys read, Random random, boolean fails) {
        KeptKeys keys;
        try {
            keys = read.kept().keys(read.relation(), read.most());
        } catch (SpillException deleted) {
            keys = null;
        }
        return new Input.KeysRead(read.readId(), fails && random.nextInt(4) == 0 ? null : keys);
    }

    private static @Nullable List<Change> piece(KeptCommit kept, int piece) {
        try {
            return kept.read(piece);
        } catch (SpillException deleted) {
            return null;
        }
    }

    private static FoldAnswer fold(Identity caller, Fold fold) {
        Caller who = Caller.of(caller.claims(), caller.role());
        return switch (fold.sql()) {
            case "claim subject" -> new FoldAnswer.Value(who.subject());
            case "claim org" -> new FoldAnswer.Value(who.org());
            default -> {
                Matcher literal = LITERAL.matcher(fold.sql());
                if (!literal.find()) {
                    throw new AssertionError("a fold the simulation does not know: " + fold.sql());
                }
                yield new FoldAnswer.Value(literal.group(1));
            }
        };
    }

    private Input.ProbeOutcome probe(Effect.Probe probe, boolean fails) {
        if (fails) {
            return new Input.ProbeOutcome.Failed("08006");
        }
        Caller caller = Caller.of(probe.caller().claims(), probe.caller().role());
        RowImage image = probe.image();
        int kind = image.mapping().position(SimPolicy.KIND_COLUMN);
        String value = image.kind(SimPolicy.KIND_COLUMN) == sluice.core.pgoutput.Tuple.Kind.TEXT
                ? image.tuple().text(kind)
                : null;
        boolean visible = database.shown().members().contains(caller.subject() + "/" + value);
        return visible
                ? new Input.ProbeOutcome.Visible(database.stamp())
                : new Input.ProbeOutcome.Hidden(database.stamp());
    }

    private SnapshotOutcome read(Effect.ReadSnapshot read, boolean fails) {
        Table table = Table.of(read.relation().oid());
        State state = database.shown();
        Rights rights = state.rightsOf(table);
        Caller caller = Caller.of(read.caller().claims(), read.caller().role());
        for (Projection.Entry column : read.projection().entries()) {
            fails |= !rights.granted().contains(column.attnum());
        }
        if (fails) {
            return new SnapshotOutcome.Failed("query", "the rows could not be read");
        }
        Spool spool = new Spool(database.stamp());
        ColumnMapping mapping = ColumnMapping.of(table.definition, read.relation());
        EventEncoder encoder = new EventEncoder(1_000_000);
        encoder.beginSnapshot(read.relation(), spool.stamp.insertLsn(), mapping);
        for (Row row : state.of(table).values()) {
            RowImage image = new RowImage(row.tuple(), mapping, java.time.Instant.EPOCH);
            if (rights.policy().shows(caller, row, state.members())
                    && read.filter().predicate().test(image) == Truth.TRUE) {
                spool.rows.add(encoder.snapshotRow(row.tuple(), EventEncoder.RowPart.WHOLE, read.projection()));
            }
        }
        return new SnapshotOutcome.Read(spool.stamp, spool.rows.size(), SnapshotOutcome.Truncated.COMPLETE, spool);
    }

    /// Some of the rows a spool has left.
    static Input take(Effect.TakeRows take, Random random, boolean fails) {
        if (fails && random.nextInt(3) == 0) {
            return new Input.SnapshotRead(take.joinId(), new SnapshotOutcome.Failed("spool", "unreadable"));
        }
        Spool spool = (Spool) take.spool();
        List<EventBody> some = new ArrayList<>();
        int most = 1 + random.nextInt(take.rowsMax());
        while (some.size() < most && !spool.rows.isEmpty()) {
            some.add(spool.rows.removeFirst());
        }
        return new Input.SnapshotRows(take.joinId(), some);
    }

    // ---- the catalog

    CatalogImage catalog(CatalogScope scope) {
        State state = database.shown();
        Map<Integer, PgType> types = new LinkedHashMap<>();
        types.put(Oid.INT4, new PgType.Base(Oid.INT4, "int4"));
        types.put(Oid.TEXT, new PgType.Base(Oid.TEXT, "text"));
        Map<String, Role> roles = new LinkedHashMap<>();
        roles.put("authenticated", new Role(20, "authenticated", Role.Bypass.NONE, List.of(20)));
        roles.put("service", new Role(21, "service", Role.Bypass.BYPASS_RLS, List.of(21)));
        Map<Integer, Collation> collations = new LinkedHashMap<>();
        collations.put(
                Collation.DEFAULT_OID,
                new Collation(
                        Collation.DEFAULT_OID, "default", "libc", "C.UTF-8", Collation.Determinism.DETERMINISTIC));
        List<Relation> relations = new ArrayList<>();
        for (Table table : Table.values()) {
            if (scope instanceof CatalogScope.Everything
                    || (scope instanceof CatalogScope.Tables(var oids) && oids.contains(table.oid))) {
                relations.add(relation(table, state.rightsOf(table)));
            }
        }
        return new CatalogImage(
                database.stamp(),
                relations,
                new CatalogImage.Dictionary(
                        18, types, roles, ServerOperators.functions(), ServerOperators.operators(), collations),
                scope instanceof CatalogScope.Everything ? SimDatabase.fingerprint(state) : null);
    }

    private static Relation relation(Table table, Rights rights) {
        Map<String, Grants> grants = new LinkedHashMap<>();
        grants.put("authenticated", new Grants(Grants.SchemaUsage.GRANTED, rights.granted()));
        grants.put("service", new Grants(Grants.SchemaUsage.GRANTED, rights.granted()));
        Map<String, Xid> versions = new LinkedHashMap<>();
        versions.put("policy", rights.policyWriter());
        versions.put("grants", rights.grantWriter());
        return new Relation(
                table.oid,
                "public",
                table.relation(),
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                table.logsOldRows() ? new ReplicaIdentity.Full() : new ReplicaIdentity.Default(List.of(1)),
                List.of(
                        column(1, "id", Oid.INT4, Column.Nullability.NOT_NULL),
                        column(2, "owner", Oid.TEXT, Column.Nullability.NULLABLE),
                        column(3, "kind", Oid.TEXT, Column.Nullability.NULLABLE),
                        column(4, "version", Oid.INT4, Column.Nullability.NULLABLE)),
                List.of(new Index("pkey", List.of(1), Index.Kind.PRIMARY_IMMEDIATE, Index.Coverage.ALL_ROWS)),
                List.of(),
                grants,
                new PublishedTable(null, EnumSet.allOf(PublishedTable.Action.class), null),
                "v1",
                rights.policy() + " " + rights.granted(),
                versions,
                World.FEED);
    }

    private static Column column(int attnum, String name, int type, Column.Nullability nullability) {
        return new Column(
                attnum,
                name,
                type,
                -1,
                nullability,
                Column.Generation.NONE,
                type == Oid.TEXT ? Collation.DEFAULT_OID : 0);
    }

    /// What the engine composes a rule from: the policy is written in the relation's rights.
    static sluice.core.authorization.RulePlan plan(Relation relation, Role role) {
        String policy = relation.rightsFingerprint().split(" ", 2)[0];
        return role.bypass() != Role.Bypass.NONE
                ? SimPolicy.EVERYTHING.plan()
                : SimPolicy.valueOf(policy).plan();
    }
}
