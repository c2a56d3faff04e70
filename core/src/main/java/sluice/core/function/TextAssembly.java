package sluice.core.function;

import static sluice.core.datum.NetworkTypes.INET;
import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.TEXT;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.ArrayType;
import sluice.core.datum.ArrayValue;
import sluice.core.datum.NetworkTypes;
import sluice.core.datum.TextTypes;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.value.Oid;

/// Texts from values of any type, and arrays from texts (`varlena.c`).
final class TextAssembly {
    private static final int TEXT_ARRAY = 1009;

    private TextAssembly() {}

    static void register(FunctionTable table) {
        // These two are written in SQL, so their source is their symbol.
        table.polymorphic(
                "select $1 operator(pg_catalog.||) $2::pg_catalog.text",
                List.of(Oid.TEXT, Pseudo.ANYNONARRAY),
                Oid.TEXT,
                (site, arguments) ->
                        Characters.bounded(TEXT.cast(Arguments.notNull(arguments[0])), castToText(site, arguments, 1)));
        table.polymorphic(
                "select $1::pg_catalog.text operator(pg_catalog.||) $2",
                List.of(Pseudo.ANYNONARRAY, Oid.TEXT),
                Oid.TEXT,
                (site, arguments) ->
                        Characters.bounded(castToText(site, arguments, 0), TEXT.cast(Arguments.notNull(arguments[1]))));
        table.polymorphic(
                        "text_concat",
                        List.of(Pseudo.ANY),
                        Oid.TEXT,
                        (site, arguments) -> joined(site, arguments, 0, ""))
                .calledOnNull();
        table.polymorphic(
                        "text_concat_ws",
                        List.of(Oid.TEXT, Pseudo.ANY),
                        Oid.TEXT,
                        (site, arguments) -> joined(site, arguments, 1, optional(arguments[0])))
                .calledOnNull();
        table.polymorphic(
                "array_to_text",
                List.of(Pseudo.ANYARRAY, Oid.TEXT),
                Oid.TEXT,
                (site, arguments) -> joinedArray(site, arguments, null));
        table.polymorphic(
                        "array_to_text_null",
                        List.of(Pseudo.ANYARRAY, Oid.TEXT, Oid.TEXT),
                        Oid.TEXT,
                        (site, arguments) -> arguments[0] == null || arguments[1] == null
                                ? null
                                : joinedArray(site, arguments, optional(arguments[2])))
                .calledOnNull();
        table.polymorphic(
                        "text_to_array",
                        List.of(Oid.TEXT, Oid.TEXT),
                        TEXT_ARRAY,
                        (_, arguments) -> split(arguments[0], arguments[1], null))
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
        table.polymorphic(
                        "text_to_array_null",
                        List.of(Oid.TEXT, Oid.TEXT, Oid.TEXT),
                        TEXT_ARRAY,
                        (_, arguments) -> split(arguments[0], arguments[1], arguments[2]))
                .calledOnNull()
                .uses(BuiltIn.CollationUse.EQUALITY);
    }

    /// What the cast to text makes of a value, which for some types is not what is printed.
    private static String castToText(BuiltIn.CallSite site, @Nullable Object[] arguments, int index) {
        ValueType<?> type = site.argumentTypes().get(index);
        Object value = Arguments.notNull(arguments[index]);
        if (INET.hasFormOf(type)) {
            return NetworkTypes.shown(INET.cast(value));
        }
        if (type.equals(BOOL)) {
            return BOOL.cast(value) ? "true" : "false";
        }
        return type.equals(BPCHAR) ? TextTypes.withoutTrailingBlanks(BPCHAR.cast(value)) : type.text(value);
    }

    private static @Nullable String optional(@Nullable Object argument) {
        return argument == null ? null : TEXT.cast(argument);
    }

    /// NULL where the separator is; NULL arguments are left out.
    private static @Nullable String joined(
            BuiltIn.CallSite site, @Nullable Object[] arguments, int from, @Nullable String separator) {
        if (separator == null) {
            return null;
        }
        List<String> parts = new ArrayList<>();
        for (int i = from; i < arguments.length; i++) {
            Object argument = arguments[i];
            if (argument != null) {
                parts.add(site.argumentTypes().get(i).text(argument));
            }
        }
        return joined(parts, separator);
    }

    private static String joinedArray(BuiltIn.CallSite site, @Nullable Object[] arguments, @Nullable String forNull) {
        if (!(site.argumentTypes().getFirst() instanceof ArrayType type)) {
            throw new UndecidableException();
        }
        List<String> parts = new ArrayList<>();
        for (Object element : type.cast(Arguments.notNull(arguments[0])).elements()) {
            if (element != null) {
                parts.add(type.element().text(element));
            } else if (forNull != null) {
                parts.add(forNull);
            }
        }
        return joined(parts, TEXT.cast(Arguments.notNull(arguments[1])));
    }

    private static String joined(List<String> parts, String separator) {
        long length = (long) separator.length() * parts.size();
        long longest = 0;
        for (String part : parts) {
            length += part.length();
            longest = Math.max(longest, part.length());
        }
        Characters.checkBound(length, longest);
        return String.join(separator, parts);
    }

    /// Without a separator by characters, with an empty one not at all; fields equal to `forNull` are NULL.
    private static @Nullable ArrayValue split(
            @Nullable Object text, @Nullable Object separator, @Nullable Object forNull) {
        if (text == null) {
            return null;
        }
        String whole = TEXT.cast(text);
        List<@Nullable Object> fields = new ArrayList<>();
        if (!whole.isEmpty() && separator == null) {
            whole.codePoints().forEach(character -> fields.add(Character.toString(character)));
        } else if (!whole.isEmpty()) {
            String between = TEXT.cast(Arguments.notNull(separator));
            fields.addAll(between.isEmpty() ? List.of(whole) : Characters.split(whole, between));
        }
        fields.replaceAll(field -> field != null && field.equals(forNull) ? null : field);
        return ArrayValue.of(fields);
    }
}
