package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Rule;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Grants;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Role;
import sluice.core.diagnostics.IdentityRemedy;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.error.WarningCode;
import sluice.core.event.StreamEvent;
import sluice.core.expression.FilterTree;
import sluice.core.shape.FilterParser;
import sluice.core.shape.Operation;
import sluice.core.shape.Operations;
import sluice.core.shape.ParsedTerm;
import sluice.core.shape.Projection;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.ShapeRequest.Transitions;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.Subscription;

/// Checks a requested shape as far as the catalog alone can tell, as the SELECT it stands for.
final class ShapeReader {
    /// As many as a table can have.
    static final int COLUMNS_MAX = 1_600;

    private ShapeReader() {}

    /// A shape that may be asked about.
    ///
    record Draft(
            ShapeRequest request,
            Relation relation,
            Operations operations,
            FilterTree<Condition> filter,
            Visible visible) {}

    /// One condition of the filter, and the column it is on.
    record Condition(ParsedTerm term, Column column) {}

    /// What the role may see of the requested columns.
    ///
    /// @param notGranted requested columns that are left out
    /// @param notPublished columns asked for by name that the log does not carry, and that are left out
    record Visible(Projection projection, List<String> notGranted, List<String> notPublished) {}

    /// @throws RequestException in the order of checks that docs/protocol.md gives
    static Draft read(CatalogImage catalog, Role role, SubscriptionRequest entry, SessionWatch sessions) {
        ShapeRequest request = shape(entry);
        Relation relation = published(catalog, request);
        if (sessions.isWatched(relation.schema(), relation.name())) {
            throw new RequestException(
                    ErrorCode.SHAPE_NOT_AUTHORIZED,
                    "table \"" + relation.qualifiedName() + "\" is read for session revocation only");
        }
        Operations operations = Operations.parse(request.ops());
        FilterTree<Condition> filter = FilterParser.parse(request.filter() == null ? "" : request.filter())
                .map(term -> new Condition(term, filterColumn(relation, role, term.column())));
        Visible visible = visible(catalog, relation, role, request);
        return new Draft(request, relation, operations, filter, visible);
    }

    private static ShapeRequest shape(SubscriptionRequest entry) {
        if (entry.label().isEmpty()) {
            throw new RequestException(ErrorCode.INVALID_SUBSCRIPTION, "\"sub\" is missing or empty");
        }
        if (entry.problem() != null) {
            throw new RequestException(ErrorCode.INVALID_SUBSCRIPTION, entry.problem());
        }
        ShapeRequest request = entry.shape();
        if (request == null) {
            throw new RequestException(ErrorCode.INVALID_SUBSCRIPTION, "neither a shape nor a channel");
        }
        if (!request.unsupported().isEmpty()) {
            throw new RequestException(
                    ErrorCode.INVALID_SUBSCRIPTION,
                    "\"" + request.unsupported().getFirst() + "\" is not supported yet");
        }
        return request;
    }

    private static Relation published(CatalogImage catalog, ShapeRequest request) {
        Relation relation = catalog.relation(request.schema(), request.table());
        if (relation == null || !relation.isServed()) {
            throw new RequestException(
                    ErrorCode.RELATION_NOT_PUBLISHED,
                    "table \"" + request.schema() + "." + request.table() + "\" is not in the publication with all of"
                            + " insert, update, delete and truncate; run ALTER PUBLICATION ... ADD TABLE, or, where"
                            + " its partitions are, ALTER PUBLICATION ... SET (publish_via_partition_root = true)");
        }
        RequestException uneven = uneven(relation);
        if (uneven != null) {
            throw uneven;
        }
        return relation;
    }

    /// Why the old rows of a partition root cannot be read, null when they can.
    static @Nullable RequestException uneven(Relation relation) {
        return relation.identity() instanceof ReplicaIdentity.Uneven(var partition)
                ? new RequestException(
                        ErrorCode.REPLICA_IDENTITY_INSUFFICIENT,
                        "partition " + partition + " has a narrower replica identity than \"" + relation.qualifiedName()
                                + "\", by which the stream describes its old rows; run ALTER TABLE " + partition
                                + " REPLICA IDENTITY FULL")
                : null;
    }

    private static Column filterColumn(Relation relation, Role role, String name) {
        Column column = relation.column(name);
        if (column == null || !isPublished(relation, column)) {
            throw new RequestException(
                    ErrorCode.INVALID_FILTER,
                    "column \"" + name + "\" of table \"" + relation.qualifiedName()
                            + "\" does not exist or is not published");
        }
        // without this a filter would be an oracle for values the role may not read
        if (!relation.grants(role.name()).covers(column.attnum())) {
            throw new RequestException(
                    ErrorCode.COLUMN_NOT_GRANTED,
                    "role \"" + role.name() + "\" may not read column \"" + name + "\" that the filter names");
        }
        return column;
    }

    static boolean isPublished(Relation relation, Column column) {
        PublishedTable published = relation.published();
        List<String> list = published == null ? null : published.columns();
        return list == null || list.contains(column.name());
    }

    /// @throws RequestException `INVALID_COLUMNS` for a column that does not exist, `COLUMN_NOT_GRANTED` when
    ///     nothing is left, `SHAPE_NOT_AUTHORIZED` without USAGE on the schema
    static Visible visible(CatalogImage catalog, Relation relation, Role role, ShapeRequest request) {
        List<Column> requested = requested(relation, request.columns());
        Grants grants = relation.grants(role.name());
        if (grants.schemaUsage() == Grants.SchemaUsage.MISSING) {
            throw new RequestException(
                    ErrorCode.SHAPE_NOT_AUTHORIZED,
                    "role \"" + role.name() + "\" has no USAGE on schema \"" + relation.schema() + "\"");
        }
        List<Integer> attnums = new ArrayList<>();
        List<String> notGranted = new ArrayList<>(0);
        List<String> notPublished = new ArrayList<>(0);
        for (Column column : requested) {
            if (!grants.covers(column.attnum())) {
                notGranted.add(column.name());
            } else if (isPublished(relation, column)) {
                attnums.add(column.attnum());
            } else if (request.columns() != null) {
                notPublished.add(column.name());
            }
        }
        if (attnums.isEmpty() && !notPublished.isEmpty()) {
            throw new RequestException(
                    ErrorCode.INVALID_COLUMNS,
                    "the requested columns of table \"" + relation.qualifiedName() + "\" are not published");
        }
        if (attnums.isEmpty()) {
            throw new RequestException(
                    ErrorCode.COLUMN_NOT_GRANTED,
                    "role \"" + role.name() + "\" may read none of the requested columns of \""
                            + relation.qualifiedName() + "\"");
        }
        for (int key : relation.keyColumns()) {
            Column column = relation.column(key);
            if (column == null) {
                continue;
            }
            if (grants.covers(key) && isPublished(relation, column)) {
                attnums.add(key);
                continue;
            }
            // rows without their key cannot be told apart, whether or not it was asked for
            List<String> left = grants.covers(key) ? notPublished : notGranted;
            if (!left.contains(column.name())) {
                left.add(column.name());
            }
        }
        return new Visible(Projection.of(relation, attnums, catalog), notGranted, notPublished);
    }

    private static List<Column> requested(Relation relation, @Nullable List<String> names) {
        if (names == null) {
            return relation.columns();
        }
        if (names.isEmpty()) {
            throw new RequestException(ErrorCode.INVALID_COLUMNS, "columns is empty");
        }
        if (names.size() > COLUMNS_MAX) {
            throw new RequestException(
                    ErrorCode.INVALID_COLUMNS, "columns has more than " + COLUMNS_MAX + " names; name each once");
        }
        List<Column> columns = new ArrayList<>(names.size());
        for (String name : names) {
            Column column = relation.column(name);
            if (column == null) {
                throw new RequestException(
                        ErrorCode.INVALID_COLUMNS,
                        "column \"" + name + "\" of table \"" + relation.qualifiedName() + "\" does not exist");
            }
            columns.add(column);
        }
        return columns;
    }

    /// What the client should know about the shape it was granted.
    ///
    /// @param routed whether changes find the shape by look-up
    ///
    /// @param ofIdentity what is to be said of the table's replica identity
    static List<StreamEvent.Warning> warnings(
            String label, Draft draft, boolean routed, Rule rule, List<StreamEvent.Warning> ofIdentity) {
        List<StreamEvent.Warning> warnings = new ArrayList<>(0);
        Relation relation = draft.relation();
        if (!draft.visible().notGranted().isEmpty()) {
            warnings.add(new StreamEvent.Warning(
                    label,
                    WarningCode.COLUMNS_NOT_GRANTED,
                    "columns left out: " + String.join(", ", draft.visible().notGranted()),
                    "events do not carry them",
                    "grant SELECT on them, or name the columns the role may read"));
        }
        if (!draft.visible().notPublished().isEmpty()) {
            warnings.add(new StreamEvent.Warning(
                    label,
                    WarningCode.COLUMNS_NOT_PUBLISHED,
                    "columns left out: " + String.join(", ", draft.visible().notPublished()),
                    "neither events nor the rows of a snapshot carry them",
                    "publish them, or do not ask for them"));
        }
        if (!routed) {
            warnings.add(new StreamEvent.Warning(
                    label,
                    WarningCode.UNINDEXED_SHAPE,
                    "the filter has no equality or list that every row of the shape fulfils",
                    "it is looked at on every change of \"" + relation.qualifiedName() + "\"",
                    "add eq or in on an indexed column, outside or(...)"));
        }
        List<String> missing = outsideIdentity(draft, rule.readsColumns());
        if (!missing.isEmpty()) {
            warnings.add(IdentityWarnings.insufficient(label, relation, missing));
        } else {
            List<String> unnamed = keyOutsideIdentity(
                    relation,
                    draft.operations(),
                    draft.request(),
                    draft.visible().projection());
            if (!unnamed.isEmpty()) {
                warnings.add(IdentityWarnings.unnamed(label, relation, unnamed));
            }
        }
        warnings.addAll(ofIdentity);
        StreamEvent.Warning untold = untoldByTheRow(label, relation, rule);
        if (untold != null) {
            warnings.add(untold);
        }
        return warnings;
    }

    /// Rows come and go without being changed themselves where the rule rests on more than the row.
    private static StreamEvent.@Nullable Warning untoldByTheRow(String label, Relation relation, Rule rule) {
        return switch (rule.decision()) {
            case Rule.Decision.Probed _ ->
                new StreamEvent.Warning(
                        label,
                        WarningCode.LEAVES_NOT_DETECTED,
                        "PostgreSQL decides the rows of \"" + relation.qualifiedName()
                                + "\", by policies that may read more than the row",
                        "a row that becomes visible or invisible without being changed itself is not told",
                        "read the rows again when what the policies read has changed");
            case Rule.Decision.Everything _, Rule.Decision.Compiled _ ->
                switch (rule.lasting()) {
                    case UNTIL_THE_ROW_CHANGES -> null;
                    case FOR_A_TIME ->
                        new StreamEvent.Warning(
                                label,
                                WarningCode.LEAVES_NOT_DETECTED,
                                "the policies of \"" + relation.qualifiedName() + "\" read the clock",
                                "a row that becomes visible or invisible with time alone is not told",
                                "read the rows again when their time has come");
                };
        };
    }

    /// Columns that an old tuple would have to carry, and does not.
    static List<String> outsideIdentity(Draft draft, List<Integer> ruleColumns) {
        if (!readsOldTuples(draft.operations(), draft.request())) {
            return List.of();
        }
        List<Integer> read = new ArrayList<>(ruleColumns);
        for (Condition condition : draft.filter().terms()) {
            read.add(condition.column().attnum());
        }
        return outsideIdentity(draft.relation(), read);
    }

    /// The same of an open shape, under the table's present identity.
    static List<String> outsideIdentity(Subscription subscription, Relation relation) {
        if (!readsOldTuples(subscription.operations(), subscription.request())) {
            return List.of();
        }
        List<Integer> read = new ArrayList<>(subscription.rule().readsColumns());
        for (Column column : subscription.filter().columns()) {
            read.add(column.attnum());
        }
        return outsideIdentity(relation, read);
    }

    /// Columns of the key by which the client knows its rows, and that old rows lack.
    static List<String> keyOutsideIdentity(Subscription subscription, Relation relation) {
        return keyOutsideIdentity(
                relation, subscription.operations(), subscription.request(), subscription.projection());
    }

    private static List<String> keyOutsideIdentity(
            Relation relation, Operations operations, ShapeRequest request, Projection projection) {
        List<String> missing = new ArrayList<>(0);
        if (!readsOldTuples(operations, request) && !operations.include(Operation.UPDATE)) {
            return missing;
        }
        for (Projection.Entry shown : projection.entries()) {
            Column column = relation.column(shown.attnum());
            if (column != null
                    && relation.keyColumns().contains(shown.attnum())
                    && !IdentityRemedy.covers(relation, shown.attnum())) {
                missing.add(column.name());
            }
        }
        return missing;
    }

    private static boolean readsOldTuples(Operations operations, ShapeRequest request) {
        return operations.include(Operation.DELETE) || request.transitions() == Transitions.REPORTED;
    }

    private static List<String> outsideIdentity(Relation relation, List<Integer> read) {
        List<String> missing = new ArrayList<>(0);
        for (Column column : relation.columns()) {
            boolean isRead = read.contains(column.attnum()) || read.contains(0);
            if (isRead && !IdentityRemedy.covers(relation, column.attnum())) {
                missing.add(column.name());
            }
        }
        return missing;
    }
}
