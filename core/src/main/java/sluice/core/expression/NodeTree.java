package sluice.core.expression;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads the text of a `pg_node_tree` into {@link Node}s.
///
/// The format is `outfuncs.c` of PostgreSQL 15 to 18: every field is `:name value`, so nodes and fields this code has
/// never heard of are read like any other and no version needs code of its own. What a node means, and whether it is
/// understood at all, is decided by whoever looks at it.
///
/// Used for one text, on one thread, and thrown away.
final class NodeTree {
    /// Brackets within brackets. PostgreSQL prints about two a level of expression; the recursion
    /// below and in every
    /// reader of the result stays far from the end of the stack.
    static final int NESTING_MAX = 400;

    /// Characters of one tree.
    static final int LENGTH_MAX = 8 << 20;

    private final String text;
    private int position;
    private int nesting;

    private NodeTree(String text) {
        this.text = text;
    }

    /// @throws NodeTreeException when the text is not a tree, is cut, nests too deep or is too long
    static Node read(String text) {
        if (text.length() > LENGTH_MAX) {
            throw new NodeTreeException("node tree is longer than " + LENGTH_MAX + " characters");
        }
        NodeTree reader = new NodeTree(text);
        Node node = reader.value();
        reader.skipSpace();
        if (reader.position != text.length()) {
            throw reader.malformed("text after the end");
        }
        return node;
    }

    private Node value() {
        return switch (peek()) {
            case '{' -> struct();
            case '(' -> sequence();
            case '"' -> quoted();
            default -> {
                String raw = rawToken();
                yield raw.equals("<>") ? Node.ABSENT : new Node.Token(unescaped(raw));
            }
        };
    }

    private Node struct() {
        enter();
        String tag = unescaped(rawToken());
        Map<String, Node> fields = new LinkedHashMap<>();
        while (peek() != '}') {
            if (peek() != ':') {
                throw malformed("field expected");
            }
            position++;
            String name = rawToken();
            if (fields.put(name, fieldValue()) != null) {
                throw malformed("field named twice");
            }
        }
        leave();
        return new Node.Struct(tag, Collections.unmodifiableMap(fields));
    }

    /// Usually one value; a datum is a length and bytes in brackets, and an unknown node may print several words.
    private Node fieldValue() {
        Node first = value();
        if (peek() == '[' && first instanceof Node.Token(var length)) {
            return datum(length);
        }
        if (peek() == ':' || peek() == '}') {
            return first;
        }
        List<Node> several = new ArrayList<>();
        several.add(first);
        while (peek() != ':' && peek() != '}') {
            several.add(value());
        }
        return new Node.Sequence(several);
    }

    private Node sequence() {
        enter();
        List<Node> items = new ArrayList<>();
        while (peek() != ')') {
            items.add(value());
        }
        leave();
        return new Node.Sequence(items);
    }

    /// A by-value datum prints its type's length and then all eight bytes of the machine word.
    private Node datum(String length) {
        position++;
        byte[] bytes = new byte[Math.min(text.length() - position, 64)];
        int count = 0;
        while (peek() != ']') {
            if (count == bytes.length) {
                bytes = java.util.Arrays.copyOf(bytes, count * 2);
            }
            bytes[count++] = byteOf(rawToken());
        }
        position++;
        int stated = number(length);
        if (stated != count && !(count == 8 && stated >= 0 && stated < 8)) {
            throw malformed("datum of another length than stated");
        }
        return new Node.Datum(java.util.Arrays.copyOf(bytes, count));
    }

    /// Printed through C's `char`, which is signed on one machine and unsigned on the next.
    private byte byteOf(String token) {
        int value = number(token);
        if (value < -128 || value > 255) {
            throw malformed("byte out of range");
        }
        return (byte) value;
    }

    private int number(String token) {
        try {
            return Integer.parseInt(token);
        } catch (NumberFormatException notNumber) {
            throw malformed("number expected");
        }
    }

    private Node quoted() {
        String raw = rawToken();
        if (raw.length() < 2 || raw.charAt(raw.length() - 1) != '"') {
            throw malformed("unfinished string");
        }
        return raw.equals("\"\"") ? new Node.Token("") : new Node.Quoted(unescaped(raw.substring(1, raw.length() - 1)));
    }

    private String rawToken() {
        skipSpace();
        int start = position;
        while (position < text.length() && !endsToken(text.charAt(position))) {
            position += text.charAt(position) == '\\' ? 2 : 1;
        }
        if (position == start || position > text.length()) {
            throw malformed("word expected");
        }
        return text.substring(start, position);
    }

    private static String unescaped(String raw) {
        if (raw.indexOf('\\') < 0) {
            return raw;
        }
        StringBuilder plain = new StringBuilder(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            plain.append(c == '\\' && i + 1 < raw.length() ? raw.charAt(++i) : c);
        }
        return plain.toString();
    }

    private static boolean endsToken(char c) {
        return isSpace(c) || c == '(' || c == ')' || c == '{' || c == '}';
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\n' || c == '\t';
    }

    private void skipSpace() {
        while (position < text.length() && isSpace(text.charAt(position))) {
            position++;
        }
    }

    private char peek() {
        skipSpace();
        if (position >= text.length()) {
            throw malformed("unexpected end");
        }
        return text.charAt(position);
    }

    private void enter() {
        position++;
        if (++nesting > NESTING_MAX) {
            throw new NodeTreeException("expression nests too deep");
        }
    }

    private void leave() {
        position++;
        nesting--;
    }

    private NodeTreeException malformed(String what) {
        return new NodeTreeException("node tree is malformed at character " + position + ": " + what);
    }
}
