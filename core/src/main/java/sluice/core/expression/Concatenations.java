package sluice.core.expression;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Function;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.function.BuiltIn;
import sluice.core.function.CollationRule;
import sluice.core.function.FunctionTable;

/// `concat(...)`: the texts of its arguments one after the other, NULL as nothing.
///
/// The function takes anything, and the text of some types depends on settings of the session; only those whose text
/// does not, and is what a cast to text gives, are concatenated here.
final class Concatenations {
    /// `unknown`: a quoted literal that nothing gave a type.
    private static final int UNKNOWN = 705;

    private static final List<ValueType<?>> PLAIN = List.of(
            ValueTypes.TEXT, ValueTypes.VARCHAR, ValueTypes.INT2, ValueTypes.INT4, ValueTypes.INT8, ValueTypes.UUID);

    private Concatenations() {}

    static boolean isConcat(Function function) {
        return BuiltIns.ofTheServer(function) && function.source().equals("text_concat");
    }

    /// A literal without a type as text, null for every other node.
    static @Nullable Expression literal(Node.Struct node) {
        if (!node.tag().equals("CONST") || node.integer("consttype") != UNKNOWN) {
            return null;
        }
        if (node.flag("constisnull")) {
            return new Expression.Constant(ValueTypes.TEXT, null);
        }
        if (!(node.field("constvalue") instanceof Node.Datum(var bytes)) || bytes.length == 0) {
            return null;
        }
        // A C string, its end included.
        return new Expression.Constant(ValueTypes.TEXT, new String(bytes, 0, bytes.length - 1, StandardCharsets.UTF_8));
    }

    static Expression of(List<Expression> arguments) throws NotCompilable {
        int text = ValueTypes.TEXT.oid();
        BuiltIn both = FunctionTable.find("textcat", List.of(text, text));
        if (both == null) {
            throw new NotCompilable("function \"pg_catalog.concat\" on these types");
        }
        BuiltIn.CallSite site =
                new BuiltIn.CallSite(List.of(ValueTypes.TEXT, ValueTypes.TEXT), ValueTypes.TEXT, CollationRule.UNKNOWN);
        Expression nothing = new Expression.Constant(ValueTypes.TEXT, "");
        Expression all = nothing;
        for (Expression argument : arguments) {
            if (!PLAIN.contains(argument.type())) {
                throw new NotCompilable("function \"pg_catalog.concat\" of a value of type " + argument.type());
            }
            Expression printed = argument.type().equals(ValueTypes.TEXT)
                    ? argument
                    : new Expression.TextCast(argument, ValueTypes.TEXT);
            Expression present = new Expression.Coalesce(List.of(printed, nothing));
            all = new Expression.Call(both, site, List.of(all, present));
        }
        return all;
    }
}
