package sluice.core.shape;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
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

    /// @throws sluice.core.error.RequestException `INVALID_FILTER` when a condition is not evaluated in process
    public static Filter of(CatalogImage catalog, FilterTree<FilterTerm> tree) {
        return new Filter(catalog, tree, FilterCompiler.compile(catalog, tree));
    }

    private static List<PgType> types(CatalogImage catalog, List<Column> columns) {
        return columns.stream().map(column -> catalog.type(column.typeOid())).toList();
    }

    /// The same filter by the types as they are now: an enumeration may have another label, or one of another name.
    ///
    /// @throws sluice.core.error.RequestException `INVALID_FILTER` when a value is none of its type any more
    public Filter under(CatalogImage catalog) {
        return types.equals(types(catalog, columns)) ? this : of(catalog, tree);
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

    /// The canonical text, in the grammar clients write, with PostgreSQL's spelling of every
    /// value. Equal texts mean
    /// the same rows of a table.
    public String text() {
        return FilterText.of(tree.map(term -> FilterText.canonical(ParsedTerm.of(term))));
    }

    /// Values may be anybody's and are never printed.
    @Override
    public String toString() {
        return "Filter" + columns.stream().map(Column::name).toList();
    }
}
