package sluice.core.function;

import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;

/// LIKE: `%` stands for anything, `_` for one character, a backslash takes the meaning from what follows.
///
/// A pattern that ends in a backslash is an error only where matching gets that far, as on the server
/// (`like_match.c`).
final class LikePattern {
    private static final String INVALID_ESCAPE = "22025";

    /// Most `%` of one pattern, each of which is a level of the search.
    private static final int WILDCARDS_MAX = 500;

    private enum Outcome {
        MATCH,
        NO_MATCH,
        /// The text ended before the pattern: no later start can match either.
        TEXT_ENDED
    }

    private final String text;
    private final String pattern;
    private int depth;
    private long steps;

    private LikePattern(String text, String pattern) {
        this.text = text;
        this.pattern = pattern;
    }

    static boolean matches(String text, String pattern) {
        // The server looks at no single "%" any closer.
        return pattern.equals("%") || new LikePattern(text, pattern).match(0, 0) == Outcome.MATCH;
    }

    private Outcome match(int textFrom, int patternFrom) {
        int t = textFrom;
        int p = patternFrom;
        while (t < text.length() && p < pattern.length()) {
            countStep();
            char c = pattern.charAt(p);
            if (c == '%') {
                return afterWildcard(t, p + 1);
            }
            if (c == '_') {
                t = text.offsetByCodePoints(t, 1);
                p++;
                continue;
            }
            if (c == '\\') {
                c = escaped(++p);
            }
            if (c != text.charAt(t)) {
                return Outcome.NO_MATCH;
            }
            t++;
            p++;
        }
        if (t < text.length()) {
            return Outcome.NO_MATCH;
        }
        while (p < pattern.length() && pattern.charAt(p) == '%') {
            p++;
        }
        return p == pattern.length() ? Outcome.MATCH : Outcome.TEXT_ENDED;
    }

    private Outcome afterWildcard(int textFrom, int patternFrom) {
        int t = textFrom;
        int p = patternFrom;
        while (p < pattern.length() && (pattern.charAt(p) == '%' || pattern.charAt(p) == '_')) {
            if (pattern.charAt(p) == '_') {
                if (t >= text.length()) {
                    return Outcome.TEXT_ENDED;
                }
                t = text.offsetByCodePoints(t, 1);
            }
            p++;
        }
        if (p == pattern.length()) {
            return Outcome.MATCH;
        }
        char first = pattern.charAt(p) == '\\' ? escaped(p + 1) : pattern.charAt(p);
        if (++depth > WILDCARDS_MAX) {
            throw new UndecidableException();
        }
        for (; t < text.length(); t++) {
            countStep();
            if (text.charAt(t) == first) {
                Outcome outcome = match(t, p);
                if (outcome != Outcome.NO_MATCH) {
                    depth--;
                    return outcome;
                }
            }
        }
        depth--;
        return Outcome.TEXT_ENDED;
    }

    private char escaped(int at) {
        if (at >= pattern.length()) {
            throw new EvaluationException(INVALID_ESCAPE);
        }
        return pattern.charAt(at);
    }

    private void countStep() {
        if (++steps > Characters.WORK_MAX) {
            throw new UndecidableException();
        }
    }

    /// A pattern with another escape character, written with the backslash.
    static String withBackslash(String pattern, String escape) {
        if (escape.isEmpty()) {
            return pattern.replace("\\", "\\\\");
        }
        if (Characters.count(escape) != 1) {
            throw new EvaluationException(INVALID_ESCAPE);
        }
        if (escape.equals("\\")) {
            return pattern;
        }
        int escapeCharacter = escape.codePointAt(0);
        StringBuilder out = new StringBuilder();
        boolean escaped = false;
        for (int at = 0; at < pattern.length(); ) {
            int character = pattern.codePointAt(at);
            at += Character.charCount(character);
            if (character == escapeCharacter && !escaped) {
                out.append('\\');
                escaped = true;
                continue;
            }
            if (character == '\\' && !escaped) {
                out.append('\\');
            }
            out.appendCodePoint(character);
            escaped = false;
        }
        return out.toString();
    }
}
