package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.expression.FilterCompiler;
import sluice.core.expression.FilterSql;
import sluice.core.expression.FilterTerm;
import sluice.core.expression.FilterTree;
import sluice.core.expression.Predicate;
import sluice.core.value.PgType;

/// A filter whose columns are known and whose literals PostgreSQL has typed and spelled.
///
/// The predicate that decides changes, the SQL that reads rows and the text are all made of the one tree, so they
/// cannot mean different things. Immutable.
public final class Filter {
    private final FilterTree<FilterTerm> tree;
    private final List<FilterTerm> conjuncts;
    private final List<Column> columns;
    private final List<PgType> types;
    private final Predicate predicate;

    private Filter(CatalogImage catalog, FilterTree<FilterTerm> tree, Predicate predicate) {
        this.tree = tree;
        this.conjuncts = List.copyOf(tree.conjuncts());
        List<Column> read = new ArrayList<>();
        for (FilterTerm term : tree.terms()) {
            if (!read.contains(term.column())) {
                read.add(term.column());
            }
        }
        this.columns = List.copyOf(read);
        this.types = types(catalog, columns);
        this.predicate = predicate;
    }

    /// @throws RequestException `INVALID_FILTER` when a condition is not evaluated in process
    public static Filter of(CatalogImage catalog, FilterTree<FilterTerm> tree) {
        return new Filter(catalog, tree, FilterCompiler.compile(catalog, tree));
    }

    private static List<PgType> types(CatalogImage catalog, List<Column> columns) {
        return columns.stream().map(column -> catalog.type(column.typeOid())).toList();
    }

    /// The same filter by the types as they are now: an enumeration may have another label, or one of another name.
    ///
    /// @throws RequestException `INVALID_FILTER` when a value is none of its type any more, or may be another
    public Filter under(CatalogImage catalog) {
        List<PgType> now = types(catalog, columns);
        for (int i = 0; i < now.size(); i++) {
            String taken = takenOver(types.get(i), now.get(i));
            if (taken != null) {
                throw new RequestException(
                        ErrorCode.INVALID_FILTER, "\"" + taken + "\" is the name of another value by now");
            }
        }
        return types.equals(now) ? this : of(catalog, tree);
    }

    /// The name of a label that was another's before: the filter may mean that one.
    private static @Nullable String takenOver(PgType before, PgType now) {
        PgType was = before.undomained();
        PgType is = now.undomained();
        if (was instanceof PgType.Array old && is instanceof PgType.Array known) {
            return takenOver(old.element(), known.element());
        }
        if (was instanceof PgType.Enumeration old && is instanceof PgType.Enumeration known) {
            for (PgType.Label label : old.labels()) {
                for (PgType.Label other : known.labels()) {
                    if (other.text().equals(label.text()) && other.oid() != label.oid()) {
                        return label.text();
                    }
                }
            }
        }
        return null;
    }

    /// The conditions that hold for every row of the shape, in the client's order.
    public List<FilterTerm> conjuncts() {
        return conjuncts;
    }

    /// Every column it reads, once, in the order the client named them.
    public List<Column> columns() {
        return columns;
    }

    public Predicate predicate() {
        return predicate;
    }

    /// The filter as a condition of a query: what the predicate decides, PostgreSQL answers.
    public FilterSql sql(CatalogImage catalog) {
        return FilterSql.of(catalog, tree);
    }

    /// The canonical text, in the grammar clients write, with PostgreSQL's spelling of every value. Equal texts
    /// mean the same rows of a table.
    public String text() {
        return FilterText.of(tree.map(term -> FilterText.canonical(ParsedTerm.of(term))));
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "Filter" + columns.stream().map(Column::name).toList();
    }
}
