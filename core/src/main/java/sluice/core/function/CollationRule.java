package sluice.core.function;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Collation;

/// What is known of a collation: enough to say whether an answer computed here is PostgreSQL's.
///
/// @param equalByBytes two texts are equal exactly when their bytes are
/// @param orderedByBytes texts sort as their UTF-8 does
/// @param letterCase which letters have a known other case
public record CollationRule(boolean equalByBytes, boolean orderedByBytes, LetterCase letterCase) {
    /// Nothing is known.
    public static final CollationRule UNKNOWN = new CollationRule(false, false, LetterCase.UNKNOWN);

    private static final List<String> BYTE_LOCALES = List.of("C", "POSIX", "C.UTF-8", "C.UTF8", "C.utf8");

    /// What lower() and upper() do.
    public enum LetterCase {
        /// Only ASCII letters have a case (C and POSIX).
        ASCII_ONLY,
        /// ASCII letters behave as in ASCII; what others do is not known here.
        ASCII_KNOWN,
        UNKNOWN
    }

    /// @param collation null when an expression names one the catalog does not have
    public static CollationRule of(@Nullable Collation collation) {
        if (collation == null) {
            return UNKNOWN;
        }
        boolean equal = collation.determinism() == Collation.Determinism.DETERMINISTIC;
        String locale = collation.locale();
        boolean icu = collation.provider().equals("icu");
        boolean ordered = equal && !icu && BYTE_LOCALES.contains(locale);
        return new CollationRule(equal, ordered, letterCase(locale, icu));
    }

    private static LetterCase letterCase(String locale, boolean icu) {
        if (!icu && (locale.equals("C") || locale.equals("POSIX"))) {
            return LetterCase.ASCII_ONLY;
        }
        String language = locale.toLowerCase(Locale.ROOT);
        // Turkish and Azeri have two kinds of i, Lithuanian keeps dots.
        for (String special : List.of("tr", "az", "lt")) {
            if (language.startsWith(special)) {
                return LetterCase.UNKNOWN;
            }
        }
        return LetterCase.ASCII_KNOWN;
    }

    public boolean allows(BuiltIn.CollationUse use) {
        return switch (use) {
            case NONE -> true;
            case EQUALITY -> equalByBytes;
            case ORDER -> orderedByBytes;
            // PostgreSQL itself refuses patterns under a nondeterministic collation.
            case CASE -> equalByBytes && letterCase != LetterCase.UNKNOWN;
        };
    }
}
