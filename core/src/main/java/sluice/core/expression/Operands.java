package sluice.core.expression;

import org.jspecify.annotations.Nullable;
import sluice.core.datum.ValueType;

/// Which expressions are compared where they lie, without making an object of their value.
final class Operands {
    private Operands() {}

    /// A column, a constant or an error of a type with such a form, null for everything else.
    static @Nullable Operand of(Expression expression) {
        ValueType<?> type = expression.type();
        boolean integer = type.representation() == ValueType.Representation.INTEGER;
        if (!integer && type.representation() != ValueType.Representation.BYTES) {
            return null;
        }
        if (expression instanceof Expression.ColumnValue(var attnum, var columnType)) {
            return integer ? new Columns.IntegerColumn(attnum) : new Columns.BytesColumn(attnum);
        }
        if (expression instanceof Expression.Constant(var constantType, var text)) {
            return integer ? Constants.IntegerConstant.of(text) : Constants.BytesConstant.of(text);
        }
        if (expression instanceof Expression.Raised(var raisedType, var sqlState)) {
            return integer ? new Constants.RaisingInteger(sqlState) : new Constants.RaisingBytes(sqlState);
        }
        return null;
    }
}
