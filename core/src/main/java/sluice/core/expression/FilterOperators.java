package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Operator;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// Which operator of PostgreSQL a condition on a column means.
///
/// The one the parser would take for a literal of the column's type: on exactly that type, or on the one the type is
/// passed as without a function (varchar as text, an enumeration as anyenum, an array as
/// anyarray). Operators of
/// users are never meant, except by a type that is no built-in one and has exactly one.
final class FilterOperators {
    private static final int ANYARRAY = 2277;
    private static final int ANYENUM = 3500;
    private static final int ANYRANGE = 3831;
    private static final int ANYMULTIRANGE = 4537;
    private static final List<Integer> RANGES = List.of(3904, 3906, 3908, 3910, 3912, 3926);
    private static final List<Integer> MULTIRANGES = List.of(4451, 4532, 4533, 4534, 4535, 4536);
    private static final String SERVER_SCHEMA = "pg_catalog";

    private FilterOperators() {}

    /// @param literalType what the constants are typed as
    record Meaning(Operator operator, PgType literalType) {}

    /// @throws RequestException `INVALID_FILTER` when PostgreSQL has no such operator for the type
    static Meaning of(CatalogImage catalog, Column column, FilterTerm.Operator operator) {
        PgType type = catalog.type(column.typeOid()).undomained();
        for (int passedAs : passedAs(type)) {
            for (int right : rightTypes(operator, passedAs)) {
                Operator found = find(catalog, operator.symbol(), passedAs, right);
                if (found != null) {
                    return new Meaning(found, right == passedAs ? type : catalog.type(right));
                }
            }
        }
        throw new RequestException(
                ErrorCode.INVALID_FILTER,
                "PostgreSQL has no \"" + operator.spelling() + "\" for type \"" + type.name() + "\" of column \""
                        + column.name() + "\"");
    }

    private static List<Integer> passedAs(PgType type) {
        List<Integer> oids = new ArrayList<>(2);
        oids.add(type.oid());
        switch (type) {
            case PgType.Enumeration _ -> oids.add(ANYENUM);
            case PgType.Array _ -> oids.add(ANYARRAY);
            case PgType.Base _ -> {
                if (type.oid() == Oid.VARCHAR) {
                    oids.add(Oid.TEXT);
                } else if (RANGES.contains(type.oid())) {
                    oids.add(ANYRANGE);
                } else if (MULTIRANGES.contains(type.oid())) {
                    oids.add(ANYMULTIRANGE);
                }
            }
            case PgType.TextLike _, PgType.Composite _, PgType.Domain _ -> {}
        }
        return oids;
    }

    /// A pattern is a text, whatever it is compared with; only bytea has patterns of its own.
    private static List<Integer> rightTypes(FilterTerm.Operator operator, int left) {
        return switch (operator) {
            case LIKE, ILIKE -> left == Oid.BYTEA ? List.of(Oid.BYTEA) : List.of(Oid.TEXT, left);
            case EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, IN -> List.of(left);
            case IS_NULL, IS_TRUE, IS_FALSE, IS_UNKNOWN -> List.of();
        };
    }

    private static @Nullable Operator find(CatalogImage catalog, String symbol, int left, int right) {
        Operator ofUsers = null;
        int ofUsersCount = 0;
        for (Operator operator : catalog.dictionary().operatorsByOid().values()) {
            if (operator.leftType() == left
                    && operator.rightType() == right
                    && operator.name().equals(symbol)) {
                if (operator.schema().equals(SERVER_SCHEMA)) {
                    return operator;
                }
                ofUsers = operator;
                ofUsersCount++;
            }
        }
        boolean ofUsersType = Integer.compareUnsigned(left, BuiltIns.FIRST_USER_OID) >= 0;
        return ofUsersType && ofUsersCount == 1 ? ofUsers : null;
    }
}
