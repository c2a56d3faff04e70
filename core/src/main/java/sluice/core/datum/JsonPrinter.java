package sluice.core.datum;

import java.util.List;

/// The text of a `jsonb`, as the server prints it: one blank behind every comma and colon.
public final class JsonPrinter {
    private JsonPrinter() {}

    public static String print(Json json) {
        StringBuilder out = new StringBuilder();
        print(json, out);
        return out.toString();
    }

    private static void print(Json json, StringBuilder out) {
        switch (json) {
            case Json.Null ignored -> out.append("null");
            case Json.Truth(var value) -> out.append(value);
            case Json.Numeral(var value) -> out.append(value.toPlainString());
            case Json.Text(var value) -> quote(value, out);
            case Json.Array(var elements) -> {
                out.append('[');
                String separator = "";
                for (Json element : elements) {
                    out.append(separator);
                    print(element, out);
                    separator = ", ";
                }
                out.append(']');
            }
            case Json.Mapping(var members) -> printMembers(members, out);
        }
    }

    private static void printMembers(List<Json.Member> members, StringBuilder out) {
        out.append('{');
        String separator = "";
        for (Json.Member member : members) {
            out.append(separator);
            quote(member.key(), out);
            out.append(": ");
            print(member.value(), out);
            separator = ", ";
        }
        out.append('}');
    }

    /// `escape_json`: only what JSON demands.
    public static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ') {
                        out.append(c < 0x10 ? "\\u000" : "\\u00").append(Integer.toHexString(c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
