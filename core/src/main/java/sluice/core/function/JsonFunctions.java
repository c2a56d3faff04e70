package sluice.core.function;

import static sluice.core.datum.JsonTypes.JSONB;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.INT2;
import static sluice.core.datum.ValueTypes.INT4;
import static sluice.core.datum.ValueTypes.INT8;
import static sluice.core.datum.ValueTypes.TEXT;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.Json;
import sluice.core.datum.JsonPrinter;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Oid;

/// `jsonb` (`jsonb_op.c`, `jsonfuncs.c`, `jsonb.c`), and `json` in {@link JsonTextFunctions}.
final class JsonFunctions {
    static final ValueType<?> TEXT_ARRAY = Objects.requireNonNull(ValueTypes.arrayOf(TEXT));

    static final String INVALID_PARAMETER = "22023";
    private static final String OUT_OF_RANGE = "22003";

    private JsonFunctions() {}

    static void register(FunctionTable table) {
        comparisons(table);
        fields(table);
        existence(table);
        changes(table);
        casts(table);
        JsonTextFunctions.register(table);
    }

    private static void comparisons(FunctionTable table) {
        // Equality is known where order is not: which of two texts is first is the default collation's affair.
        table.binary("jsonb_eq", JSONB, JSONB, BOOL, Json::same).neverRaises();
        table.binary("jsonb_ne", JSONB, JSONB, BOOL, (a, b) -> !Json.same(a, b)).neverRaises();
        for (ComparisonKind kind : ComparisonKind.values()) {
            if (kind != ComparisonKind.EQUAL && kind != ComparisonKind.NOT_EQUAL) {
                table.binary("jsonb_" + kind.suffix(), JSONB, JSONB, BOOL, (a, b) -> kind.holds(JSONB.compare(a, b)));
            }
        }
        table.binary("jsonb_contains", JSONB, JSONB, BOOL, JsonContainment::contains)
                .neverRaises();
        table.binary("jsonb_contained", JSONB, JSONB, BOOL, (a, b) -> JsonContainment.contains(b, a))
                .neverRaises();
    }

    private static void fields(FunctionTable table) {
        table.binary("jsonb_object_field", JSONB, TEXT, JSONB, JsonFunctions::field)
                .neverRaises();
        table.binary("jsonb_object_field_text", JSONB, TEXT, TEXT, (a, key) -> text(field(a, key)))
                .neverRaises();
        table.binary("jsonb_array_element", JSONB, INT4, JSONB, JsonFunctions::element)
                .neverRaises();
        table.binary("jsonb_array_element_text", JSONB, INT4, TEXT, (a, index) -> text(element(a, index)))
                .neverRaises();
        table.sited(
                        "jsonb_extract_path",
                        List.of(JSONB, TEXT_ARRAY),
                        JSONB,
                        (_, arguments) -> at(Arguments.given(JSONB, arguments[0]), array(arguments[1])))
                .neverRaises();
        table.sited(
                        "jsonb_extract_path_text",
                        List.of(JSONB, TEXT_ARRAY),
                        TEXT,
                        (_, arguments) -> text(at(Arguments.given(JSONB, arguments[0]), array(arguments[1]))))
                .neverRaises();
        table.unary("jsonb_typeof", JSONB, TEXT, JsonFunctions::kind).neverRaises();
        table.unary("jsonb_array_length", JSONB, INT4, a -> {
            if (a instanceof Json.Array(var elements)) {
                return (long) elements.size();
            }
            throw new EvaluationException(INVALID_PARAMETER);
        });
    }

    private static void existence(FunctionTable table) {
        table.binary("jsonb_exists", JSONB, TEXT, BOOL, JsonFunctions::exists).neverRaises();
        table.sited(
                        "jsonb_exists_any",
                        List.of(JSONB, TEXT_ARRAY),
                        BOOL,
                        (_, arguments) -> keys(arguments[1]).stream()
                                .anyMatch(key -> exists(Arguments.given(JSONB, arguments[0]), key)))
                .neverRaises();
        table.sited(
                        "jsonb_exists_all",
                        List.of(JSONB, TEXT_ARRAY),
                        BOOL,
                        (_, arguments) -> keys(arguments[1]).stream()
                                .allMatch(key -> exists(Arguments.given(JSONB, arguments[0]), key)))
                .neverRaises();
    }

    private static void changes(FunctionTable table) {
        table.binary("jsonb_concat", JSONB, JSONB, JSONB, JsonChanges::concatenated);
        table.binary("jsonb_delete", JSONB, TEXT, JSONB, (a, key) -> JsonChanges.without(a, List.of(key)));
        table.binary("jsonb_delete_idx", JSONB, INT4, JSONB, JsonChanges::withoutElement);
        table.sited(
                "jsonb_delete_array",
                List.of(JSONB, TEXT_ARRAY),
                JSONB,
                (_, arguments) -> JsonChanges.without(
                        Arguments.given(JSONB, arguments[0]), keys(JsonChanges.flat(array(arguments[1])))));
        table.sited(
                "jsonb_delete_path",
                List.of(JSONB, TEXT_ARRAY),
                JSONB,
                (_, arguments) -> JsonChanges.withoutPath(Arguments.given(JSONB, arguments[0]), array(arguments[1])));
        table.unary("jsonb_strip_nulls", JSONB, JSONB, a -> JsonChanges.withoutNulls(a, JsonChanges.NullElements.KEPT))
                .neverRaises();
        table.binary(
                        "jsonb_strip_nulls",
                        JSONB,
                        BOOL,
                        JSONB,
                        (a, inArrays) -> JsonChanges.withoutNulls(
                                a, inArrays ? JsonChanges.NullElements.DROPPED : JsonChanges.NullElements.KEPT))
                .neverRaises();
    }

    private static void casts(FunctionTable table) {
        table.unary("jsonb_bool", JSONB, BOOL, a -> {
            if (a instanceof Json.Truth(var value)) {
                return value;
            }
            throw noCast(a);
        });
        table.unary("jsonb_int2", JSONB, INT2, a -> whole(a, INT2));
        table.unary("jsonb_int4", JSONB, INT4, a -> whole(a, INT4));
        table.unary("jsonb_int8", JSONB, INT8, a -> whole(a, INT8));
        table.polymorphic(
                "to_jsonb",
                List.of(Pseudo.ANYELEMENT),
                JSONB.oid(),
                (site, arguments) ->
                        JsonConversion.toJsonb(site.argumentTypes().getFirst(), Arguments.notNull(arguments[0])));
        table.polymorphic("jsonb_build_object", List.of(Pseudo.ANY), JSONB.oid(), JsonConversion::object)
                .calledOnNull();
        table.polymorphic("jsonb_build_array", List.of(Pseudo.ANY), JSONB.oid(), JsonConversion::array)
                .calledOnNull();
        table.polymorphic(
                "to_json",
                List.of(Pseudo.ANYELEMENT),
                Oid.JSON,
                (site, arguments) ->
                        JsonConversion.toJson(site.argumentTypes().getFirst(), Arguments.notNull(arguments[0])));
    }

    /// A number, rounded away from zero.
    private static long whole(Json json, ValueType<Long> type) {
        BigDecimal rounded = number(json).setScale(0, RoundingMode.HALF_UP);
        if (rounded.precision() > 19) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
        try {
            return IntegerFunctions.checked(type, rounded.longValueExact());
        } catch (ArithmeticException tooLarge) {
            throw new EvaluationException(OUT_OF_RANGE);
        }
    }

    private static BigDecimal number(Json json) {
        if (json instanceof Json.Numeral(var value)) {
            return value;
        }
        throw noCast(json);
    }

    /// JSON's null was an error until a major made it NULL.
    private static EvaluationException noCast(Json json) {
        return json instanceof Json.Null ? new UndecidableException() : new EvaluationException(INVALID_PARAMETER);
    }

    private static @Nullable Json field(Json json, String key) {
        return json instanceof Json.Mapping mapping ? mapping.member(key) : null;
    }

    /// Negative numbers count from the end. A scalar is stored as an array of one, and found in it.
    private static @Nullable Json element(Json json, long index) {
        List<Json> elements = json instanceof Json.Array(var all) ? all : json.isScalar() ? List.of(json) : List.of();
        long at = index < 0 ? elements.size() + index : index;
        return at >= 0 && at < elements.size() ? elements.get((int) at) : null;
    }

    private static @Nullable Json at(Json json, ArrayValue path) {
        Json found = json;
        for (Object step : path.elements()) {
            if (step == null || found == null) {
                return null;
            }
            String key = TEXT.cast(step);
            if (found instanceof Json.Mapping mapping) {
                found = mapping.member(key);
            } else if (found instanceof Json.Array) {
                Integer index = index(key);
                found = index == null ? null : element(found, index);
            } else {
                return null;
            }
        }
        return path.hasNull() ? null : found;
    }

    /// A step into an array as `strtol` reads it, null when it is no number.
    static @Nullable Integer index(String step) {
        int from = 0;
        while (from < step.length() && " \t\n\u000b\f\r".indexOf(step.charAt(from)) >= 0) {
            from++;
        }
        for (int i = from; i < step.length(); i++) {
            char c = step.charAt(i);
            if ((c < '0' || c > '9') && !(i == from && (c == '+' || c == '-'))) {
                return null;
            }
        }
        try {
            return Integer.valueOf(step.substring(from));
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }

    /// What `->>` gives: a text without quotes, NULL for JSON's null.
    static @Nullable String text(@Nullable Json json) {
        return switch (json) {
            case null -> null;
            case Json.Null ignored -> null;
            case Json.Text(var value) -> value;
            case Json.Truth ignored -> JsonPrinter.print(json);
            case Json.Numeral ignored -> JsonPrinter.print(json);
            case Json.Array ignored -> JsonPrinter.print(json);
            case Json.Mapping ignored -> JsonPrinter.print(json);
        };
    }

    private static String kind(Json json) {
        return switch (json) {
            case Json.Null ignored -> "null";
            case Json.Text ignored -> "string";
            case Json.Truth ignored -> "boolean";
            case Json.Numeral ignored -> "number";
            case Json.Array ignored -> "array";
            case Json.Mapping ignored -> "object";
        };
    }

    /// As a key, as a text in an array, or as the text itself.
    private static boolean exists(Json json, String key) {
        return switch (json) {
            case Json.Mapping mapping -> mapping.member(key) != null;
            case Json.Array(var elements) -> elements.contains(new Json.Text(key));
            case Json.Text(var value) -> value.equals(key);
            case Json.Null ignored -> false;
            case Json.Truth ignored -> false;
            case Json.Numeral ignored -> false;
        };
    }

    static ArrayValue array(@Nullable Object argument) {
        return (ArrayValue) TEXT_ARRAY.cast(Arguments.notNull(argument));
    }

    /// The texts of an array, without NULLs.
    private static List<String> keys(@Nullable Object argument) {
        List<String> keys = new ArrayList<>();
        for (Object element : array(argument).elements()) {
            if (element != null) {
                keys.add(TEXT.cast(element));
            }
        }
        return keys;
    }
}
