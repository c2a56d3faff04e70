package sluice.core.diagnostics;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Function;

/// Puts calls of some functions into `(SELECT ...)`, in an expression as PostgreSQL prints it.
///
/// Works on words, not on meaning: what it wraps has the same value wrapped, as the functions are STABLE. Calls
/// within a sub-select stay as they are. Used once, on one thread.
final class WrappedCalls {
    private final String text;
    private final List<Function> functions;
    private final StringBuilder out = new StringBuilder();
    /// Whether each open bracket is a sub-select's or within one.
    private final Deque<Boolean> selects = new ArrayDeque<>();
    private int position;
    private int wrapped;

    private WrappedCalls(String text, List<Function> functions) {
        this.text = text;
        this.functions = functions;
    }

    /// @param text printed under `search_path = pg_catalog`, so that other names are qualified
    /// @return null when no call was found or the text is not understood
    static @Nullable String in(String text, List<Function> functions) {
        WrappedCalls calls = new WrappedCalls(text, functions);
        return calls.copy() && calls.wrapped > 0 ? calls.out.toString() : null;
    }

    private boolean copy() {
        while (position < text.length()) {
            char c = text.charAt(position);
            int start = position;
            if (c == '\'') {
                position = endOfLiteral(position, Escapes.NONE);
            } else if (startsName(c)) {
                name();
                continue;
            } else {
                bracket(c);
                position++;
            }
            out.append(text, start, position);
        }
        return selects.isEmpty();
    }

    private void bracket(char c) {
        if (c == '(') {
            boolean inside = Boolean.TRUE.equals(selects.peek());
            selects.push(inside || text.startsWith("SELECT ", afterSpace(position + 1)));
        } else if (c == ')') {
            selects.poll();
        }
    }

    private int afterSpace(int from) {
        int at = from;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /// A name with its qualifiers; a call of one of the functions is copied to its closing bracket.
    private void name() {
        int start = position;
        if (text.startsWith("E'", start)) {
            position = endOfLiteral(start + 1, Escapes.BACKSLASH);
            out.append(text, start, position);
            return;
        }
        List<String> parts = new ArrayList<>();
        int end = start;
        boolean more = true;
        while (more) {
            int from = end;
            end = endOfName(from);
            parts.add(plain(text.substring(from, end)));
            more = end + 1 < text.length() && text.charAt(end) == '.' && startsName(text.charAt(end + 1));
            end += more ? 1 : 0;
        }
        position = end;
        boolean called = end < text.length() && text.charAt(end) == '(';
        int close = called && !Boolean.TRUE.equals(selects.peek()) && isOurs(parts) ? endOfBrackets(end) : -1;
        if (close < 0) {
            out.append(text, start, end);
        } else {
            out.append("(SELECT ").append(text, start, close).append(')');
            position = close;
            wrapped++;
        }
    }

    private boolean isOurs(List<String> parts) {
        for (Function function : functions) {
            List<String> printed =
                    function.builtIn() ? List.of(function.name()) : List.of(function.schema(), function.name());
            if (printed.equals(parts)) {
                return true;
            }
        }
        return false;
    }

    /// The position after the bracket that closes the one at `open`, -1 when there is none.
    private int endOfBrackets(int open) {
        int depth = 0;
        int at = open;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '\'') {
                at = endOfLiteral(at, at > 0 && text.charAt(at - 1) == 'E' ? Escapes.BACKSLASH : Escapes.NONE);
                continue;
            }
            if (c == '"') {
                at = endOfName(at);
                continue;
            }
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            at++;
            if (depth == 0) {
                return at;
            }
        }
        return -1;
    }

    private enum Escapes {
        NONE,
        BACKSLASH
    }

    /// The position after the quote that closes the one at `open`; the end of the text when there is none.
    private int endOfLiteral(int open, Escapes escapes) {
        int at = open + 1;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '\\' && escapes == Escapes.BACKSLASH) {
                at++;
            } else if (c == '\'') {
                if (at + 1 >= text.length() || text.charAt(at + 1) != '\'') {
                    return at + 1;
                }
                at++;
            }
            at++;
        }
        return text.length();
    }

    private static boolean startsName(char c) {
        return c == '"' || c == '_' || Character.isLetter(c);
    }

    private int endOfName(int start) {
        int at = start + 1;
        if (text.charAt(start) == '"') {
            while (at < text.length()) {
                if (text.charAt(at) == '"') {
                    if (at + 1 >= text.length() || text.charAt(at + 1) != '"') {
                        return at + 1;
                    }
                    at++;
                }
                at++;
            }
            return text.length();
        }
        while (at < text.length()
                && (text.charAt(at) == '$' || Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')) {
            at++;
        }
        return at;
    }

    private static String plain(String name) {
        return name.startsWith("\"") && name.length() >= 2
                ? name.substring(1, name.length() - 1).replace("\"\"", "\"")
                : name;
    }
}
