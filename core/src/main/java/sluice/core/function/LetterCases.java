package sluice.core.function;

import sluice.core.datum.UndecidableException;

/// Upper and lower case as far as it is the same in every locale that a rule stands for (`formatting.c`).
///
/// ASCII letters map to ASCII letters, and characters of scripts without case stay; every other character is
/// undecidable unless the collation knows no case but ASCII's.
final class LetterCases {
    private LetterCases() {}

    /// What an ASCII character becomes.
    @FunctionalInterface
    private interface Mapping {
        char apply(char ascii);
    }

    static String lower(String text, CollationRule collation) {
        return map(text, collation, LetterCases::lower);
    }

    static String upper(String text, CollationRule collation) {
        return map(text, collation, LetterCases::upper);
    }

    private static String map(String text, CollationRule collation, Mapping mapping) {
        StringBuilder out = new StringBuilder(text.length());
        for (int at = 0; at < text.length(); ) {
            int character = text.codePointAt(at);
            if (character <= 0x7f) {
                out.append(mapping.apply((char) character));
            } else if (isKept(character, collation)) {
                out.appendCodePoint(character);
            } else {
                throw new UndecidableException();
            }
            at += Character.charCount(character);
        }
        return out.toString();
    }

    /// Where words begin is a locale's affair: beyond letters and spaces only known where letters are ASCII's.
    static String initcap(String text, CollationRule collation) {
        boolean asciiOnly = collation.letterCase() == CollationRule.LetterCase.ASCII_ONLY;
        StringBuilder out = new StringBuilder(text.length());
        boolean inWord = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!asciiOnly && !isLetter(c) && c != ' ') {
                throw new UndecidableException();
            }
            out.append(inWord ? lower(c) : upper(c));
            inWord = isLetter(c) || (c >= '0' && c <= '9');
        }
        return out.toString();
    }

    static char lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
    }

    static char upper(char c) {
        return c >= 'a' && c <= 'z' ? (char) (c - 32) : c;
    }

    static boolean isLetter(char c) {
        return lower(c) != upper(c);
    }

    /// Whether a character beyond ASCII is its own upper and lower case.
    static boolean isKept(int character, CollationRule collation) {
        return switch (collation.letterCase()) {
            case ASCII_ONLY -> true;
            case ASCII_KNOWN -> isCaseless(character);
            case UNKNOWN -> false;
        };
    }

    /// Letters of scripts that have no case (`Lo`), punctuation and signs, of which none that Unicode has once
    /// assigned gains a case. Circled letters are signs with a case.
    private static boolean isCaseless(int character) {
        if (Character.toLowerCase(character) != character || Character.toUpperCase(character) != character) {
            return false;
        }
        return switch (Character.getType(character)) {
            case Character.OTHER_LETTER,
                    Character.SPACE_SEPARATOR,
                    Character.DASH_PUNCTUATION,
                    Character.START_PUNCTUATION,
                    Character.END_PUNCTUATION,
                    Character.INITIAL_QUOTE_PUNCTUATION,
                    Character.FINAL_QUOTE_PUNCTUATION,
                    Character.OTHER_PUNCTUATION,
                    Character.CURRENCY_SYMBOL,
                    Character.MATH_SYMBOL,
                    Character.OTHER_SYMBOL -> true;
            default -> false;
        };
    }
}
