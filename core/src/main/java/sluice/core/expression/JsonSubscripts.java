package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Operator;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;

/// Subscripts of a jsonb value: `json['a'][1]` is `json #> '{a,1}'`.
final class JsonSubscripts {
    static final int JSONB = 3802;

    private JsonSubscripts() {}

    /// @param node the `SUBSCRIPTINGREF`
    /// @param subscripts texts and integers, as PostgreSQL has made them
    static Expression of(CatalogImage catalog, Node.Struct node, Expression container, List<Expression> subscripts)
            throws NotCompilable {
        ValueType<?> texts = ValueTypes.arrayOf(ValueTypes.TEXT);
        Operator at = texts == null ? null : Operators.named(catalog, "#>", container.type(), texts);
        boolean plain = node.absent("reflowerindexpr") && node.absent("refassgnexpr");
        if (texts == null || at == null || !plain) {
            throw new NotCompilable("a slice of a value");
        }
        List<Expression> path = new ArrayList<>();
        for (Expression subscript : subscripts) {
            path.add(
                    subscript.type().equals(ValueTypes.TEXT)
                            ? subscript
                            : new Expression.TextCast(subscript, ValueTypes.TEXT));
        }
        List<Expression> sides = List.of(container, new Expression.ArrayOf(path, texts));
        return new Operators(catalog).apply(at, JSONB, 0, sides);
    }
}
