package sluice.core.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Column;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.shape.Projection;
import sluice.core.stream.Subscription;
import sluice.core.value.PgType;

/// Whether the columns a subscription shows are still those its client knows.
final class ShownColumns {
    private ShownColumns() {}

    /// Whether one of them was dropped, renamed or retyped between two readings of the catalog, or one was
    /// added that would be shown to whoever subscribes now.
    static boolean differ(Subscription subscription, Relation before, Relation now) {
        for (Projection.Entry shown : subscription.projection().entries()) {
            if (!isSame(before.column(shown.attnum()), now.column(shown.attnum()))) {
                return true;
            }
        }
        return subscription.request().columns() == null && hasNew(subscription, before, now);
    }

    private static boolean hasNew(Subscription subscription, Relation before, Relation now) {
        String role = subscription.stream().identity().role();
        for (Column column : now.columns()) {
            if (before.column(column.attnum()) == null
                    && now.grants(role).covers(column.attnum())
                    && ShapeReader.isPublished(now, column)) {
                return true;
            }
        }
        return false;
    }

    /// Whether values that were sent have another text by now, because their type is another: a label has another
    /// name, a composite another attribute. A label that was added changes nothing that was sent.
    static boolean printOtherwise(Projection before, Projection now) {
        for (Projection.Entry known : before.entries()) {
            for (Projection.Entry entry : now.entries()) {
                if (entry.attnum() == known.attnum() && printsOtherwise(known.type(), entry.type())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean printsOtherwise(PgType before, PgType now) {
        PgType was = before.undomained();
        PgType is = now.undomained();
        if (was instanceof PgType.Enumeration old && is instanceof PgType.Enumeration known) {
            return !known.labels().containsAll(old.labels());
        }
        if (was instanceof PgType.Array old && is instanceof PgType.Array known) {
            return printsOtherwise(old.element(), known.element());
        }
        if (was instanceof PgType.Composite old && is instanceof PgType.Composite known) {
            return printsOtherwise(old.attributes(), known.attributes());
        }
        return was.oid() != is.oid();
    }

    private static boolean printsOtherwise(List<PgType.Attribute> before, List<PgType.Attribute> now) {
        if (before.size() != now.size()) {
            return true;
        }
        for (int i = 0; i < before.size(); i++) {
            if (!before.get(i).name().equals(now.get(i).name())
                    || printsOtherwise(before.get(i).type(), now.get(i).type())) {
                return true;
            }
        }
        return false;
    }

    /// Whether rows as the stream describes them lack one of these columns, which the catalog has.
    static boolean lack(Subscription subscription, Relation relation, ColumnMapping mapping) {
        for (Projection.Entry shown : subscription.projection().entries()) {
            Column column = relation.column(shown.attnum());
            boolean expected = column != null && isExpected(relation, column);
            if (expected && mapping.position(shown.attnum()) == ColumnMapping.ABSENT) {
                return true;
            }
        }
        return false;
    }

    /// Whether the stream has the column, unless it describes rows of another moment.
    static boolean isExpected(Relation relation, Column column) {
        PublishedTable published = relation.published();
        List<String> listed = published == null ? null : published.columns();
        return column.generation() == Column.Generation.NONE && (listed == null || listed.contains(column.name()));
    }

    /// Whether the column is the one it was.
    static boolean isSame(@Nullable Column before, @Nullable Column now) {
        return before != null
                && now != null
                && before.name().equals(now.name())
                && before.typeOid() == now.typeOid()
                && before.collationOid() == now.collationOid();
    }
}
