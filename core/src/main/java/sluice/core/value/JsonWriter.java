package sluice.core.value;

import java.nio.charset.StandardCharsets;

/// Writes PostgreSQL values, in the text form the log carries, as `to_jsonb` would write them.
///
/// What PostgreSQL prints depends on the session: the text must come from one with the pinned settings (ISO dates,
/// TimeZone UTC, hex bytea, shortest floats).
///
/// Every value has a form. A text that is not what its type promises is written as a JSON string, the innermost such
/// part only, so one odd value never costs more than itself: nothing is thrown, and what is written is always valid
/// JSON
/// without a line end. docs/values.md lists each type and the departures from `to_jsonb`.
///
/// Writes nothing but to its sink and allocates nothing for common types. Not shared between threads.
public final class JsonWriter {
    /// Arrays and composites inside one another; what lies deeper is written as text.
    public static final int NESTING_MAX = 32;

    private static final int MALFORMED = -1;
    private static final int SCRATCH_KEPT_MAX = 64 * 1024;

    private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

    private final ByteSink out;
    private final JsonEmbedding embedding;

    /// Where each nesting level puts an element whose quotes it had to undo.
    private final byte[][] scratchByDepth = new byte[NESTING_MAX + 1][];

    /// @param out where values go; the caller may write between them and take them back
    public JsonWriter(ByteSink out) {
        this.out = out;
        this.embedding = new JsonEmbedding(out);
        java.util.Arrays.fill(scratchByDepth, new byte[0]);
    }

    /// SQL NULL.
    public void writeNull() {
        out.put(NULL);
    }

    /// One value that is not NULL.
    public void write(PgType type, byte[] text, int offset, int length) {
        value(type, text, offset, offset + length, 0);
    }

    private void value(PgType type, byte[] text, int from, int to, int depth) {
        switch (type) {
            case PgType.Base base -> base(base.oid(), text, from, to);
            case PgType.Array array -> array(array, text, from, to, depth);
            case PgType.Composite composite -> composite(composite, text, from, to, depth);
            case PgType.TextLike ignored -> JsonString.quote(text, from, to, out);
            case PgType.Enumeration enumeration -> JsonString.quote(text, from, to, out);
            case PgType.Domain domain -> value(domain.undomained(), text, from, to, depth);
        }
    }

    private void base(int oid, byte[] text, int from, int to) {
        switch (oid) {
            case Oid.BOOL -> bool(text, from, to);
            case Oid.INT2, Oid.INT4, Oid.INT8, Oid.NUMERIC, Oid.FLOAT4, Oid.FLOAT8 -> number(text, from, to);
            case Oid.JSON, Oid.JSONB -> json(text, from, to);
            case Oid.TIMESTAMP, Oid.TIMESTAMPTZ -> timestamp(text, from, to);
            case Oid.INT2VECTOR -> vector(Oid.INT2, text, from, to);
            case Oid.OIDVECTOR -> vector(Oid.OID, text, from, to);
            default -> JsonString.quote(text, from, to, out);
        }
    }

    private void bool(byte[] text, int from, int to) {
        if (to - from == 1 && text[from] == 't') {
            out.put(TRUE);
        } else if (to - from == 1 && text[from] == 'f') {
            out.put(FALSE);
        } else {
            JsonString.quote(text, from, to, out);
        }
    }

    private void number(byte[] text, int from, int to) {
        if (to - from == 2 && text[from] == '-' && text[from + 1] == '0') {
            // jsonb keeps numbers as numeric, which has no negative zero
            out.put('0');
        } else if (JsonNumber.end(text, from, to) == to) {
            out.put(text, from, to - from);
        } else {
            JsonString.quote(text, from, to, out);
        }
    }

    private void json(byte[] text, int from, int to) {
        int mark = out.length();
        if (!embedding.embed(text, from, to)) {
            out.truncate(mark);
            JsonString.quote(text, from, to, out);
        }
    }

    /// `2026-09-29 20:24:42.39+00` becomes `2026-09-29T20:24:42.39+00:00`; `infinity` and a trailing ` BC` stay.
    private void timestamp(byte[] text, int from, int to) {
        int blank = indexOf(' ', text, from, to);
        if (blank == to || text[from] < '0' || text[from] > '9') {
            JsonString.quote(text, from, to, out);
            return;
        }
        out.put('"');
        JsonString.escape(text, from, blank, out);
        out.put('T');
        int era = indexOf(' ', text, blank + 1, to);
        JsonString.escape(text, blank + 1, era, out);
        // a zone of whole hours is printed without minutes; a timestamp without zone has no sign this close to its end
        if (era - blank > 3 && (text[era - 3] == '+' || text[era - 3] == '-')) {
            out.put(':');
            out.put('0');
            out.put('0');
        }
        JsonString.escape(text, era, to, out);
        out.put('"');
    }

    private static int indexOf(char wanted, byte[] text, int from, int to) {
        int at = from;
        while (at < to && text[at] != wanted) {
            at++;
        }
        return at;
    }

    /// `int2vector` and `oidvector`: elements between single blanks, no braces, never NULL.
    private void vector(int elementOid, byte[] text, int from, int to) {
        out.put('[');
        int at = from;
        while (at < to) {
            int end = indexOf(' ', text, at, to);
            if (at > from) {
                out.put(',');
            }
            base(elementOid, text, at, end);
            at = end + 1;
        }
        out.put(']');
    }

    private void array(PgType.Array type, byte[] text, int from, int to, int depth) {
        switch (type.oid()) {
            case Oid.INT2VECTOR, Oid.OIDVECTOR -> {
                base(type.oid(), text, from, to);
                return;
            }
            // fixed-size types with an element type, none of them an array; a line even prints in braces
            case Oid.NAME, Oid.POINT, Oid.LSEG, Oid.BOX, Oid.LINE -> {
                JsonString.quote(text, from, to, out);
                return;
            }
            default -> {}
        }
        int mark = out.length();
        int start = afterBounds(text, from, to);
        int end = start < to && text[start] == '{' ? dimension(type, text, start, to, depth) : MALFORMED;
        if (end != to) {
            out.truncate(mark);
            JsonString.quote(text, from, to, out);
        }
    }

    /// Explicit bounds, `[3:5][0:1]=`, are left out.
    private static int afterBounds(byte[] text, int from, int to) {
        if (from == to || text[from] != '[') {
            return from;
        }
        int equals = indexOf('=', text, from, to);
        return equals == to ? to : equals + 1;
    }

    /// One brace pair with what is inside.
    ///
    /// @return the position after the closing brace, or {@link #MALFORMED}
    private int dimension(PgType.Array type, byte[] text, int brace, int to, int depth) {
        if (depth >= NESTING_MAX) {
            return MALFORMED;
        }
        out.put('[');
        int at = brace + 1;
        if (at < to && text[at] == '}') {
            out.put(']');
            return at + 1;
        }
        while (at < to) {
            at = switch (text[at]) {
                case '{' -> dimension(type, text, at, to, depth + 1);
                case '"' -> quoted(type.element(), text, at, to, depth);
                default -> bareElement(type, text, at, to, depth);
            };
            if (at == MALFORMED || at >= to) {
                return MALFORMED;
            }
            if (text[at] == '}') {
                out.put(']');
                return at + 1;
            }
            if (text[at] != type.delimiter()) {
                return MALFORMED;
            }
            out.put(',');
            at++;
        }
        return MALFORMED;
    }

    private int bareElement(PgType.Array type, byte[] text, int from, int to, int depth) {
        int at = from;
        while (at < to && text[at] != type.delimiter() && text[at] != '}') {
            if (text[at] == '"' || text[at] == '\\' || text[at] == '{') {
                return MALFORMED;
            }
            at++;
        }
        if (at == from) {
            return MALFORMED;
        }
        if (isNull(text, from, at)) {
            out.put(NULL);
        } else {
            value(type.element(), text, from, at, depth + 1);
        }
        return at;
    }

    private static boolean isNull(byte[] text, int from, int to) {
        return to - from == 4
                && text[from] == 'N'
                && text[from + 1] == 'U'
                && text[from + 2] == 'L'
                && text[from + 3] == 'L';
    }

    private void composite(PgType.Composite type, byte[] text, int from, int to, int depth) {
        int mark = out.length();
        if (depth >= NESTING_MAX || !fields(type, text, from, to, depth)) {
            out.truncate(mark);
            JsonString.quote(text, from, to, out);
        }
    }

    private boolean fields(PgType.Composite type, byte[] text, int from, int to, int depth) {
        if (to - from < 2 || text[from] != '(' || text[to - 1] != ')') {
            return false;
        }
        out.put('{');
        int last = type.attributes().size() - 1;
        int at = from + 1;
        for (int i = 0; i <= last; i++) {
            PgType.Attribute attribute = type.attributes().get(i);
            JsonString.quote(attribute.name(), out);
            out.put(':');
            at = field(attribute.type(), text, at, to, depth);
            if (at == MALFORMED || at >= to || text[at] != (i == last ? ')' : ',')) {
                return false;
            }
            if (i < last) {
                out.put(',');
                at++;
            }
        }
        out.put('}');
        return at == to - 1;
    }

    /// @return the position of the comma or parenthesis after the field, or {@link #MALFORMED}
    private int field(PgType type, byte[] text, int from, int to, int depth) {
        if (text[from] == '"') {
            return quoted(type, text, from, to, depth);
        }
        int at = from;
        while (at < to && text[at] != ',' && text[at] != ')') {
            if (text[at] == '"' || text[at] == '\\' || text[at] == '(') {
                return MALFORMED;
            }
            at++;
        }
        if (at == from) {
            out.put(NULL);
        } else {
            value(type, text, from, at, depth + 1);
        }
        return at;
    }

    /// An element or field in double quotes. A backslash or, in a composite, a second quote stands before
    /// what is meant literally; in an array a quote after the closing one is malformed anyway.
    ///
    /// @return the position after the closing quote, or {@link #MALFORMED}
    private int quoted(PgType type, byte[] text, int quote, int to, int depth) {
        int at = quote + 1;
        int literals = 0;
        while (at < to) {
            if (text[at] == '\\' || (text[at] == '"' && at + 1 < to && text[at + 1] == '"')) {
                literals++;
                at += 2;
            } else if (text[at] == '"') {
                break;
            } else {
                at++;
            }
        }
        if (at >= to) {
            return MALFORMED;
        }
        if (literals == 0) {
            value(type, text, quote + 1, at, depth + 1);
        } else {
            int length = at - quote - 1 - literals;
            byte[] plain = scratch(depth, length);
            undo(text, quote + 1, plain, length);
            value(type, plain, 0, length, depth + 1);
            if (length > SCRATCH_KEPT_MAX) {
                scratchByDepth[depth] = new byte[0];
            }
        }
        return at + 1;
    }

    private static void undo(byte[] text, int from, byte[] plain, int length) {
        int at = from;
        for (int i = 0; i < length; i++) {
            if (text[at] == '\\' || text[at] == '"') {
                at++;
            }
            plain[i] = text[at++];
        }
    }

    private byte[] scratch(int depth, int length) {
        if (scratchByDepth[depth].length < length) {
            scratchByDepth[depth] = new byte[Math.max(length, 256)];
        }
        return scratchByDepth[depth];
    }
}
