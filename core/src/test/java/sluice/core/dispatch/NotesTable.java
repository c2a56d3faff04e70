package sluice.core.dispatch;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.core.catalog.Collation;
import sluice.core.catalog.Column;
import sluice.core.catalog.Function;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Index;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.ServerOperators;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.value.Oid;

/// The one table of a model world: `public.notes(id, owner, body)`.
final class NotesTable {
    private NotesTable() {}

    static Relation notes(String fingerprint, String rightsFingerprint, List<Integer> granted) {
        Map<String, Grants> grants = new LinkedHashMap<>();
        grants.put("authenticated", new Grants(Grants.SchemaUsage.GRANTED, granted));
        grants.put("service", new Grants(Grants.SchemaUsage.GRANTED, granted));
        return new Relation(
                World.NOTES,
                "public",
                "notes",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Default(List.of(1)),
                List.of(
                        column(1, "id", Oid.INT4, Column.Nullability.NOT_NULL),
                        column(2, "owner", Oid.TEXT, Column.Nullability.NULLABLE),
                        column(3, "body", Oid.TEXT, Column.Nullability.NULLABLE)),
                List.of(new Index("notes_pkey", List.of(1), Index.Kind.PRIMARY_IMMEDIATE, Index.Coverage.ALL_ROWS)),
                List.of(),
                grants,
                new PublishedTable(null, EnumSet.allOf(PublishedTable.Action.class), null),
                fingerprint,
                rightsFingerprint,
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

    static RelationDefinition definition(char identity) {
        return new RelationDefinition(
                World.NOTES,
                "public",
                "notes",
                identity,
                List.of(
                        new RelationDefinition.Column("id", Oid.INT4, -1, true),
                        new RelationDefinition.Column("owner", Oid.TEXT, -1, false),
                        new RelationDefinition.Column("body", Oid.TEXT, -1, false)));
    }

    /// The server's, and so many of the application's.
    static Map<Integer, Function> functions(int functions) {
        Map<Integer, Function> byOid = ServerOperators.functions();
        for (int i = 0; i < functions; i++) {
            byOid.put(
                    17_000 + i,
                    new Function(
                            17_000 + i,
                            "app",
                            "tenant",
                            "sql",
                            Function.Volatility.STABLE,
                            Function.Strictness.CALLED_ON_NULL,
                            Function.Security.INVOKER,
                            Oid.TEXT,
                            List.of(),
                            "SELECT 'x'",
                            null,
                            null,
                            new LinkedHashMap<>(),
                            "1"));
        }
        return byOid;
    }
}
