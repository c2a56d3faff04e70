package sluice.server.postgres.query;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.Grants;
import sluice.core.catalog.Index;
import sluice.core.catalog.Policy;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.wal.Xid;
import sluice.server.postgres.query.Rows.Row;

/// Builds relations from the rows of their parts. Used once, by one thread.
final class RelationAssembly {
    private final Map<Integer, List<Row>> columns;
    private final Map<Integer, List<Row>> indexes;
    private final Map<Integer, List<Row>> policies;
    private final Map<Integer, List<Row>> grants;
    private final PolicyTexts texts;

    RelationAssembly(List<Row> columns, List<Row> indexes, List<Row> policies, List<Row> grants, PolicyTexts texts) {
        this.columns = byRelation(columns);
        this.indexes = byRelation(indexes);
        this.policies = byRelation(policies);
        this.grants = byRelation(grants);
        this.texts = texts;
    }

    private static Map<Integer, List<Row>> byRelation(List<Row> rows) {
        Map<Integer, List<Row>> byRelation = new HashMap<>();
        for (Row row : rows) {
            byRelation.computeIfAbsent(row.oid(0), _ -> new ArrayList<>()).add(row);
        }
        return byRelation;
    }

    Relation relation(Row row) {
        int oid = row.oid(0);
        List<Column> relationColumns = columns.getOrDefault(oid, List.of()).stream()
                .map(RelationAssembly::column)
                .toList();
        List<Row> indexRows = indexes.getOrDefault(oid, List.of());
        String uneven = row.textOrNull(20);
        ReplicaIdentity identity =
                uneven == null ? identity(row.letter(8), indexRows) : new ReplicaIdentity.Uneven(uneven);
        List<Policy> relationPolicies =
                policies.getOrDefault(oid, List.of()).stream().map(this::policy).toList();
        Map<String, Grants> grantsByRole = grants(oid);
        return new Relation(
                oid,
                row.text(1),
                row.text(2),
                kind(row),
                row.oid(5),
                rowSecurity(row),
                identity,
                relationColumns,
                indexRows.stream().map(RelationAssembly::index).toList(),
                relationPolicies,
                grantsByRole,
                published(row, relationColumns),
                digest(row.text(15) + '\n' + relationColumns + '\n' + identity + '\n' + row.text(14)),
                digest(row.text(16) + '\n' + grantsByRole + '\n' + PolicyTexts.asked(relationPolicies)),
                rightVersions(row.text(21)),
                new Relation.Feed(row.text(17), row.text(18), versions(row.text(19))));
    }

    private static Map<String, Xid> rightVersions(String text) {
        Map<String, Xid> versions = new LinkedHashMap<>();
        for (String part : text.split(" ", -1)) {
            int colon = part.indexOf(':');
            versions.put(part.substring(0, colon), new Xid(Integer.parseUnsignedInt(part.substring(colon + 1))));
        }
        return Collections.unmodifiableMap(versions);
    }

    private static Map<Integer, String> versions(String text) {
        Map<Integer, String> versions = new LinkedHashMap<>();
        for (String part : text.split(" ", -1)) {
            int colon = part.indexOf(':');
            if (colon > 0) {
                versions.put(Integer.valueOf(part.substring(0, colon)), part.substring(colon + 1));
            }
        }
        return Collections.unmodifiableMap(versions);
    }

    private static Relation.Kind kind(Row row) {
        return switch (row.letter(3)) {
            case 'p' -> Relation.Kind.PARTITIONED_TABLE;
            case 'r' -> row.flag(4) ? Relation.Kind.PARTITION : Relation.Kind.TABLE;
            default -> Relation.Kind.OTHER;
        };
    }

    private static Relation.RowSecurity rowSecurity(Row row) {
        if (!row.flag(6)) {
            return Relation.RowSecurity.OFF;
        }
        return row.flag(7) ? Relation.RowSecurity.FORCED : Relation.RowSecurity.ON;
    }

    private static Column column(Row row) {
        Column.Generation generation = switch (row.letter(6)) {
            case 's' -> Column.Generation.STORED;
            case 'v' -> Column.Generation.VIRTUAL;
            default -> Column.Generation.NONE;
        };
        return new Column(
                row.number(1),
                row.text(2),
                row.oid(3),
                row.number(4),
                row.flag(5) ? Column.Nullability.NOT_NULL : Column.Nullability.NULLABLE,
                generation,
                row.oid(7),
                row.textOrNull(8));
    }

    private static Index index(Row row) {
        Index.Kind kind = Index.Kind.PLAIN;
        if (row.flag(3)) {
            kind = row.flag(5)
                    ? row.flag(4) ? Index.Kind.PRIMARY_IMMEDIATE : Index.Kind.PRIMARY_DEFERRABLE
                    : row.flag(4) ? Index.Kind.UNIQUE_IMMEDIATE : Index.Kind.UNIQUE_DEFERRABLE;
        }
        return new Index(
                row.text(1), row.numbers(2), kind, row.flag(7) ? Index.Coverage.PARTIAL : Index.Coverage.ALL_ROWS);
    }

    /// PostgreSQL takes only an index that is unique, immediate and without a predicate for an identity.
    private static ReplicaIdentity identity(char letter, List<Row> indexes) {
        return switch (letter) {
            case 'f' -> new ReplicaIdentity.Full();
            case 'n' -> new ReplicaIdentity.Nothing();
            case 'i' -> {
                Row found = identityIndex(indexes, 6);
                yield found == null
                        ? new ReplicaIdentity.UsingIndex("", List.of())
                        : new ReplicaIdentity.UsingIndex(found.text(1), found.numbers(2));
            }
            default -> {
                Row found = identityIndex(indexes, 5);
                yield new ReplicaIdentity.Default(found == null ? List.of() : found.numbers(2));
            }
        };
    }

    private static @Nullable Row identityIndex(List<Row> indexes, int flag) {
        for (Row row : indexes) {
            if (row.flag(flag) && row.flag(3) && row.flag(4) && !row.flag(7)) {
                return row;
            }
        }
        return null;
    }

    private Policy policy(Row row) {
        Policy.Command command = switch (row.letter(4)) {
            case 'r' -> Policy.Command.SELECT;
            case 'a' -> Policy.Command.INSERT;
            case 'w' -> Policy.Command.UPDATE;
            case 'd' -> Policy.Command.DELETE;
            default -> Policy.Command.ALL;
        };
        String tree = row.textOrNull(6);
        return new Policy(
                row.oid(1),
                row.text(2),
                row.flag(3) ? Policy.Mode.PERMISSIVE : Policy.Mode.RESTRICTIVE,
                command,
                row.numbers(5),
                tree,
                tree == null ? null : texts.text(row.oid(1)),
                tree == null ? Map.of() : texts.byRole(row.oid(1)));
    }

    private Map<String, Grants> grants(int oid) {
        Map<String, Grants> byRole = new LinkedHashMap<>();
        for (Row row : grants.getOrDefault(oid, List.of())) {
            byRole.put(
                    row.text(1),
                    new Grants(row.flag(2) ? Grants.SchemaUsage.GRANTED : Grants.SchemaUsage.MISSING, row.numbers(3)));
        }
        return Collections.unmodifiableMap(byRole);
    }

    private static PublishedTable published(Row row, List<Column> columns) {
        Set<PublishedTable.Action> actions = EnumSet.noneOf(PublishedTable.Action.class);
        PublishedTable.Action[] all = PublishedTable.Action.values();
        for (int i = 0; i < all.length; i++) {
            if (row.flag(9 + i)) {
                actions.add(all[i]);
            }
        }
        List<Integer> sent = row.numbers(14);
        List<String> names = columns.stream()
                .filter(column -> sent.contains(column.attnum()))
                .map(Column::name)
                .toList();
        return new PublishedTable(
                names.size() == columns.size() ? null : names, actions, row.flag(13) ? "row filter" : null);
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
