package sluice.core.expression;

import java.util.ArrayList;
import java.util.List;

/// The words of a string body, as far as its small language goes.
final class SqlTokens {
    private SqlTokens() {}

    enum Kind {
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

    record Token(Kind kind, String text) {}

    /// A body is not of the language.
    static final class Unproven extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unproven() {
            super(null, null, false, false);
        }
    }

    /// The last one is an END.
    ///
    /// @throws Unproven at the first character that begins no word of the language
    static List<Token> of(String text) {
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
