package sluice.core.value;

/// Copies the text of a `json` or `jsonb` value into an event, on one line.
///
/// What the value says is kept as it is stored: order and repetition of keys, digits, escapes. What only lays it out,
/// blanks and line ends between tokens, is left out. The text is checked on the way, because one bad value must not
/// make its event, or the line after it, unreadable.
///
/// Not shared between threads.
final class JsonEmbedding {
    /// Arrays and objects inside one another; many readers give up somewhat above this.
    static final int DEPTH_MAX = 512;

    /// What may come next.
    private enum Expected {
        VALUE,
        VALUE_OR_ARRAY_END,
        KEY,
        KEY_OR_OBJECT_END,
        SEPARATOR
    }

    private static final int MALFORMED = -1;

    private final ByteSink out;

    /// One bit for each open level: set for an object.
    private final long[] objects = new long[DEPTH_MAX / Long.SIZE];

    private int depth;

    JsonEmbedding(ByteSink out) {
        this.out = out;
    }

    /// @return false when the text is not JSON or is nested too deep; the sink then holds a part of it,
    ///     for the caller to take back
    boolean embed(byte[] text, int from, int to) {
        depth = 0;
        Expected expected = Expected.VALUE;
        int at = from;
        while (at < to) {
            if (isBlank(text[at])) {
                at++;
                continue;
            }
            switch (expected) {
                case VALUE, VALUE_OR_ARRAY_END -> {
                    if (text[at] == ']' && expected == Expected.VALUE_OR_ARRAY_END) {
                        expected = close();
                        out.put(text[at++]);
                    } else if (text[at] == '[' || text[at] == '{') {
                        if (depth == DEPTH_MAX) {
                            return false;
                        }
                        expected = open(text[at]);
                        out.put(text[at++]);
                    } else {
                        at = scalar(text, at, to);
                        expected = Expected.SEPARATOR;
                    }
                }
                case KEY, KEY_OR_OBJECT_END -> {
                    if (text[at] == '}' && expected == Expected.KEY_OR_OBJECT_END) {
                        expected = close();
                        out.put(text[at++]);
                    } else {
                        at = key(text, at, to);
                        expected = Expected.VALUE;
                    }
                }
                case SEPARATOR -> {
                    if (depth == 0) {
                        return false;
                    }
                    if (text[at] == ',') {
                        expected = inObject() ? Expected.KEY : Expected.VALUE;
                    } else if (text[at] == (inObject() ? '}' : ']')) {
                        expected = close();
                    } else {
                        return false;
                    }
                    out.put(text[at++]);
                }
            }
            if (at == MALFORMED) {
                return false;
            }
        }
        return depth == 0 && expected == Expected.SEPARATOR;
    }

    private static boolean isBlank(byte unit) {
        return unit == ' ' || unit == '\t' || unit == '\n' || unit == '\r';
    }

    private Expected open(byte bracket) {
        long bit = 1L << depth;
        if (bracket == '{') {
            objects[depth / Long.SIZE] |= bit;
        } else {
            objects[depth / Long.SIZE] &= ~bit;
        }
        depth++;
        return bracket == '{' ? Expected.KEY_OR_OBJECT_END : Expected.VALUE_OR_ARRAY_END;
    }

    private Expected close() {
        depth--;
        return Expected.SEPARATOR;
    }

    private boolean inObject() {
        return (objects[(depth - 1) / Long.SIZE] & (1L << (depth - 1))) != 0;
    }

    private int key(byte[] text, int from, int to) {
        int at = text[from] == '"' ? string(text, from, to) : MALFORMED;
        if (at == MALFORMED) {
            return MALFORMED;
        }
        while (at < to && isBlank(text[at])) {
            at++;
        }
        if (at == to || text[at] != ':') {
            return MALFORMED;
        }
        out.put(':');
        return at + 1;
    }

    private int scalar(byte[] text, int from, int to) {
        return switch (text[from]) {
            case '"' -> string(text, from, to);
            case 't' -> word("true", text, from, to);
            case 'f' -> word("false", text, from, to);
            case 'n' -> word("null", text, from, to);
            default -> number(text, from, to);
        };
    }

    private int number(byte[] text, int from, int to) {
        int end = JsonNumber.end(text, from, to);
        if (end == JsonNumber.NONE) {
            return MALFORMED;
        }
        out.put(text, from, end - from);
        return end;
    }

    private int word(String word, byte[] text, int from, int to) {
        int end = from + word.length();
        if (end > to) {
            return MALFORMED;
        }
        for (int i = 0; i < word.length(); i++) {
            if (text[from + i] != word.charAt(i)) {
                return MALFORMED;
            }
        }
        out.put(text, from, word.length());
        return end;
    }

    private int string(byte[] text, int from, int to) {
        int plainFrom = from;
        int at = from + 1;
        while (at < to) {
            byte unit = text[at];
            if (unit == '"') {
                out.put(text, plainFrom, at + 1 - plainFrom);
                return at + 1;
            }
            if (unit == '\\') {
                at = escape(text, at, to);
                if (at == MALFORMED) {
                    return MALFORMED;
                }
            } else if (unit >= 0x20) {
                at++;
            } else if (unit >= 0) {
                return MALFORMED;
            } else {
                int width = Utf8.width(text, at, to);
                if (width > 0 && !JsonString.endsLine(text, at, width)) {
                    at += width;
                } else {
                    out.put(text, plainFrom, at - plainFrom);
                    at += JsonString.beyondAscii(text, at, width, out);
                    plainFrom = at;
                }
            }
        }
        return MALFORMED;
    }

    /// Where the escape ends; `\\u0000` and half a surrogate pair are valid in JSON and stay.
    private static int escape(byte[] text, int backslash, int to) {
        if (backslash + 1 >= to) {
            return MALFORMED;
        }
        int width = switch (text[backslash + 1]) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> 2;
            case 'u' -> 6;
            default -> 0;
        };
        if (width == 0 || to - backslash < width) {
            return MALFORMED;
        }
        for (int i = 2; i < width; i++) {
            if (Character.digit(text[backslash + i], 16) < 0) {
                return MALFORMED;
            }
        }
        return backslash + width;
    }
}
