package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Recognises the string bodies of SQL functions that can read nothing but the caller's settings.
///
/// It does not evaluate or translate a body, PostgreSQL does that; it only has to be sure. So it reads a small
/// language (one `SELECT` of one expression, from literals, `current_setting('request...')`, `coalesce`, `nullif`,
/// casts to built-in types, a few operators and calls of named functions) and gives up at the first word that is
/// not in it. `FROM` is not in it, and neither is any bare name.
///
/// Used for one body, on one thread, and thrown away.
final class SqlBody {
    private static final int NESTING_MAX = 64;
    private static final int LENGTH_MAX = 16 << 10;

    /// Types that a cast may name; PostgreSQL looks for them in `pg_catalog` first.
    private static final List<String> TYPES = List.of(
            "text",
            "varchar",
            "uuid",
            "json",
            "jsonb",
            "int",
            "int2",
            "int4",
            "int8",
            "integer",
            "bigint",
            "smallint",
            "bool",
            "boolean",
            "numeric");

    /// Functions of the server that are immutable in every overload.
    private static final List<String> IMMUTABLE = List.of("lower", "upper", "btrim");

    static final List<String> OPERATORS = List.of("->", "->>", "#>", "#>>", "=", "<>", "||", "<", ">", "<=", ">=");

    private static final List<String> WORD_OPERATORS = List.of("and", "or");

    private final List<Token> tokens;
    private final List<Call> calls = new ArrayList<>();
    private int position;
    private int nesting;

    private SqlBody(List<Token> tokens) {
        this.tokens = tokens;
    }

    /// A call of a function outside `pg_catalog`, to be proven in turn.
    record Call(String schema, String name) {}

    /// @param list in the order of the text
    record Calls(List<Call> list) {
        Calls {
            list = List.copyOf(list);
        }
    }

    private enum Kind {
        /// Unquoted, in lower case.
        WORD,
        QUOTED_NAME,
        STRING,
        NUMBER,
        PARAMETER,
        OPERATOR,
        /// One of `( ) [ ] , ; . ::`.
        PUNCTUATION,
        END
    }

    private record Token(Kind kind, String text) {}

    private static final class Unproven extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unproven() {
            super(null, null, false, false);
        }
    }

    /// @return the functions it calls, or null when the body is not of the language
    static @Nullable Calls read(String text) {
        if (text.length() > LENGTH_MAX) {
            return null;
        }
        try {
            SqlBody body = new SqlBody(tokens(text));
            body.statement();
            return new Calls(body.calls);
        } catch (Unproven unproven) {
            return null;
        }
    }

    private void statement() {
        expectWord("select");
        expression();
        if (acceptWord("as")) {
            name();
        }
        boolean ignored = accept(";");
        if (peek().kind() != Kind.END) {
            throw new Unproven();
        }
    }

    private void expression() {
        if (++nesting > NESTING_MAX) {
            throw new Unproven();
        }
        unary();
        while (true) {
            Token next = peek();
            boolean operator = switch (next.kind()) {
                case OPERATOR -> OPERATORS.contains(next.text());
                case WORD -> WORD_OPERATORS.contains(next.text());
                case QUOTED_NAME, STRING, NUMBER, PARAMETER, PUNCTUATION, END -> false;
            };
            if (operator) {
                position++;
                unary();
            } else if (acceptWord("is")) {
                boolean ignored = acceptWord("not");
                if (!acceptWord("null") && !acceptWord("true") && !acceptWord("false")) {
                    throw new Unproven();
                }
            } else {
                break;
            }
        }
        nesting--;
    }

    private void unary() {
        while (acceptWord("not")) {
            // any number of them
        }
        primary();
        while (accept("::")) {
            type();
        }
    }

    private void primary() {
        Token token = take();
        switch (token.kind()) {
            case STRING, NUMBER, PARAMETER -> {}
            case PUNCTUATION -> {
                if (!token.text().equals("(")) {
                    throw new Unproven();
                }
                if (acceptWord("select")) {
                    expression();
                    if (acceptWord("as")) {
                        name();
                    }
                } else {
                    expression();
                }
                expect(")");
            }
            case WORD -> word(token.text());
            case QUOTED_NAME -> qualifiedCall(token.text());
            case OPERATOR, END -> throw new Unproven();
        }
    }

    private void word(String word) {
        switch (word) {
            case "null", "true", "false", "current_user", "current_role" -> {}
            case "coalesce", "nullif" -> arguments();
            case "current_setting" -> setting();
            case "cast" -> cast();
            default -> {
                if (IMMUTABLE.contains(word) && peek().text().equals("(")) {
                    arguments();
                } else {
                    qualifiedCall(word);
                }
            }
        }
    }

    private void setting() {
        expect("(");
        Token name = take();
        if (name.kind() != Kind.STRING || !name.text().startsWith(FunctionSafety.CALLER_SETTINGS)) {
            throw new Unproven();
        }
        if (accept(",") && !acceptWord("true") && !acceptWord("false")) {
            throw new Unproven();
        }
        expect(")");
    }

    private void cast() {
        expect("(");
        expression();
        expectWord("as");
        type();
        expect(")");
    }

    /// Only `schema.function(...)`: what a bare name means depends on the search path.
    private void qualifiedCall(String schema) {
        expect(".");
        String name = name();
        if (schema.equals("pg_catalog")) {
            if (!name.equals("current_setting") && !IMMUTABLE.contains(name)) {
                throw new Unproven();
            }
            word(name);
            return;
        }
        calls.add(new Call(schema, name));
        arguments();
    }

    private void arguments() {
        expect("(");
        if (accept(")")) {
            return;
        }
        do {
            expression();
        } while (accept(","));
        expect(")");
    }

    private void type() {
        String name = name();
        if (name.equals("pg_catalog") && accept(".")) {
            name = name();
        }
        if (!TYPES.contains(name)) {
            throw new Unproven();
        }
        if (accept("[")) {
            expect("]");
        }
    }

    private String name() {
        Token token = take();
        if (token.kind() != Kind.WORD && token.kind() != Kind.QUOTED_NAME) {
            throw new Unproven();
        }
        return token.text();
    }

    private Token peek() {
        return tokens.get(position);
    }

    private Token take() {
        Token token = tokens.get(position);
        if (token.kind() == Kind.END) {
            throw new Unproven();
        }
        position++;
        return token;
    }

    private boolean accept(String punctuation) {
        if (peek().kind() == Kind.PUNCTUATION && peek().text().equals(punctuation)) {
            position++;
            return true;
        }
        return false;
    }

    private void expect(String punctuation) {
        if (!accept(punctuation)) {
            throw new Unproven();
        }
    }

    private boolean acceptWord(String word) {
        if (peek().kind() == Kind.WORD && peek().text().equals(word)) {
            position++;
            return true;
        }
        return false;
    }

    private void expectWord(String word) {
        if (!acceptWord(word)) {
            throw new Unproven();
        }
    }

    private static List<Token> tokens(String text) {
        List<Token> tokens = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (" \t\r\n".indexOf(c) >= 0) {
                at++;
                continue;
            }
            if (text.startsWith("--", at)) {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
                continue;
            }
            Token token = token(text, at);
            tokens.add(token);
            at += length(token, text, at);
        }
        tokens.add(new Token(Kind.END, ""));
        return tokens;
    }

    /// Escape strings, dollar quotes, block comments and anything not plain ASCII outside quotes
    /// are not of the language.
    private static Token token(String text, int at) {
        char c = text.charAt(at);
        if (c == '\'' || c == '"') {
            String inside = text.substring(at + 1, closing(text, at));
            if (c == '\'' && inside.indexOf('\\') >= 0) {
                throw new Unproven();
            }
            String quote = String.valueOf(c);
            return new Token(c == '"' ? Kind.QUOTED_NAME : Kind.STRING, inside.replace(quote + quote, quote));
        }
        if (isLetter(c)) {
            String word = run(text, at, "abcdefghijklmnopqrstuvwxyz0123456789_");
            int end = at + word.length();
            // e'...', b'...', u&'...' and the like
            boolean prefix = end < text.length() && "'\"&$".indexOf(text.charAt(end)) >= 0;
            if (prefix) {
                throw new Unproven();
            }
            return new Token(Kind.WORD, word);
        }
        if (isDigit(c)) {
            return new Token(Kind.NUMBER, run(text, at, "0123456789"));
        }
        if (c == '$' && at + 1 < text.length() && isDigit(text.charAt(at + 1))) {
            return new Token(Kind.PARAMETER, "$" + run(text, at + 1, "0123456789"));
        }
        if (text.startsWith("::", at)) {
            return new Token(Kind.PUNCTUATION, "::");
        }
        if ("()[],;.".indexOf(c) >= 0) {
            return new Token(Kind.PUNCTUATION, String.valueOf(c));
        }
        String operator = run(text, at, "+-*/<>=~!@#%^&|`?");
        if (operator.isEmpty() || operator.contains("--") || operator.contains("/*")) {
            throw new Unproven();
        }
        return new Token(Kind.OPERATOR, operator);
    }

    private static int length(Token token, String text, int at) {
        return switch (token.kind()) {
            case STRING, QUOTED_NAME -> closing(text, at) + 1 - at;
            case WORD, NUMBER, PARAMETER, OPERATOR, PUNCTUATION, END ->
                token.text().length();
        };
    }

    /// Where the quote that opens at `from` closes; a doubled one does not close it.
    private static int closing(String text, int from) {
        char quote = text.charAt(from);
        for (int i = from + 1; i < text.length(); i++) {
            if (text.charAt(i) == quote) {
                if (i + 1 < text.length() && text.charAt(i + 1) == quote) {
                    i++;
                } else {
                    return i;
                }
            }
        }
        throw new Unproven();
    }

    /// Only ASCII is folded to lower case, as PostgreSQL's scanner does for the names that matter here.
    private static String run(String text, int from, String allowed) {
        StringBuilder run = new StringBuilder();
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            char lower = c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
            if (allowed.indexOf(lower) < 0) {
                break;
            }
            run.append(lower);
        }
        return run.toString();
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
