package sluice.core.function;

import static sluice.core.datum.JsonTypes.JSON;
import static sluice.core.datum.JsonTypes.JSONB;
import static sluice.core.datum.NumberTypes.FLOAT4;
import static sluice.core.datum.NumberTypes.FLOAT8;
import static sluice.core.datum.NumberTypes.NUMERIC;
import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.TextTypes.NAME;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT2;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.TEXT;
import static sluice.core.datum.ValueTypes.UUID;
import static sluice.core.datum.ValueTypes.VARCHAR;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EnumType;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Json;
import sluice.core.datum.JsonPrinter;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// JSON of values for which it is plain; dates and composites have forms of their own.
final class JsonConversion {
    private static final List<ValueType<?>> WRITTEN_AS_TEXT = List.of(TEXT, VARCHAR, BPCHAR, NAME, UUID);
    private static final List<ValueType<?>> NUMBERS = List.of(INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8);

    private JsonConversion() {}

    /// Whether there are values of the type that the function, by its symbol, writes here. Others are PostgreSQL's.
    static boolean takes(String symbol, ValueType<?> type) {
        return switch (symbol) {
            case "to_json" -> type.equals(JSON) || isWritten(type);
            case "to_jsonb", "jsonb_build_object", "jsonb_build_array" ->
                type.equals(JSON)
                        || type.equals(JSONB)
                        || isWritten(type instanceof ArrayType array ? array.element() : type);
            default -> true;
        };
    }

    private static boolean isWritten(ValueType<?> type) {
        return NUMBERS.contains(type)
                || type.equals(BOOL)
                || WRITTEN_AS_TEXT.contains(type)
                || type instanceof EnumType;
    }

    static Json toJsonb(ValueType<?> type, Object value) {
        if (type.equals(JSONB)) {
            return JSONB.cast(value);
        }
        if (type.equals(JSON)) {
            return JSONB.input(JSON.cast(value));
        }
        if (type instanceof ArrayType array && array.cast(value).dimensions() <= 1) {
            ArrayValue held = array.cast(value);
            List<Json> elements = new ArrayList<>();
            for (Object element : held.elements()) {
                elements.add(element == null ? Json.Null.INSTANCE : toJsonb(array.element(), element));
            }
            return new Json.Array(elements);
        }
        return scalar(type, value);
    }

    /// Only scalars, and `json` as it is: arrays are written without blanks there.
    static String toJson(ValueType<?> type, Object value) {
        if (type.equals(JSON)) {
            return JSON.cast(value);
        }
        Json scalar = scalar(type, value);
        // A float keeps its exponent.
        return scalar instanceof Json.Numeral ? type.text(value) : JsonPrinter.print(scalar);
    }

    /// Keys and values in turn.
    static Json object(BuiltIn.CallSite site, @Nullable Object[] arguments) {
        if (arguments.length % 2 != 0) {
            throw new EvaluationException(JsonFunctions.INVALID_PARAMETER);
        }
        List<Json.Member> members = new ArrayList<>();
        for (int i = 0; i < arguments.length; i += 2) {
            members.add(new Json.Member(key(site, arguments, i), value(site, arguments, i + 1)));
        }
        return Json.Mapping.of(members);
    }

    static Json array(BuiltIn.CallSite site, @Nullable Object[] arguments) {
        List<Json> elements = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            elements.add(value(site, arguments, i));
        }
        return new Json.Array(elements);
    }

    private static String key(BuiltIn.CallSite site, @Nullable Object[] arguments, int index) {
        Object argument = arguments[index];
        ValueType<?> type = site.argumentTypes().get(index);
        if (argument == null || type instanceof ArrayType || type.equals(JSON) || type.equals(JSONB)) {
            throw new EvaluationException(JsonFunctions.INVALID_PARAMETER);
        }
        return switch (scalar(type, argument)) {
            case Json.Text(var text) -> text;
            case Json.Truth truth -> JsonPrinter.print(truth);
            // A float keeps its exponent.
            case Json.Numeral ignored -> type.text(argument);
            case Json.Null ignored -> throw new UndecidableException();
            case Json.Array ignored -> throw new UndecidableException();
            case Json.Mapping ignored -> throw new UndecidableException();
        };
    }

    private static Json value(BuiltIn.CallSite site, @Nullable Object[] arguments, int index) {
        Object argument = arguments[index];
        return argument == null
                ? Json.Null.INSTANCE
                : toJsonb(site.argumentTypes().get(index), argument);
    }

    private static Json scalar(ValueType<?> type, Object value) {
        if (type.equals(BOOL)) {
            return new Json.Truth(BOOL.cast(value));
        }
        if (type.equals(INT2) || type.equals(INT4) || type.equals(INT8)) {
            return new Json.Numeral(BigDecimal.valueOf((Long) value));
        }
        if (type.equals(NUMERIC) || type.equals(FLOAT4) || type.equals(FLOAT8)) {
            return number(type.text(value));
        }
        if (WRITTEN_AS_TEXT.contains(type) || type instanceof EnumType) {
            return new Json.Text(type.text(value));
        }
        throw new UndecidableException();
    }

    /// What is no number in JSON is a text.
    private static Json number(String text) {
        if (text.equals("NaN") || text.endsWith("Infinity")) {
            return new Json.Text(text);
        }
        BigDecimal value = new BigDecimal(text);
        return new Json.Numeral(value.scale() < 0 ? value.setScale(0) : value);
    }
}
