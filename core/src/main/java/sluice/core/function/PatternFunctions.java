package sluice.core.function;

import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.TextTypes.BYTEA;
import static sluice.core.datum.TextTypes.NAME;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.TEXT;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;

/// LIKE, ILIKE, SIMILAR TO and regular expressions (`like.c`, `regexp.c`).
final class PatternFunctions {
    private static final String INVALID_ESCAPE = "22025";

    private PatternFunctions() {}

    /// Whether a function asks for a match or for none.
    private enum Asks {
        MATCH,
        NO_MATCH;

        boolean answer(boolean matches) {
            return matches == (this == MATCH);
        }
    }

    static void register(FunctionTable table) {
        table.binary("bytealike", BYTEA, BYTEA, BOOL, LikePattern::matches);
        table.binary("byteanlike", BYTEA, BYTEA, BOOL, (a, pattern) -> !LikePattern.matches(a, pattern));
        table.binary("like_escape", TEXT, TEXT, TEXT, LikePattern::withBackslash);
        table.binary("like_escape_bytea", BYTEA, BYTEA, BYTEA, LikePattern::withBackslash);
        of(table, "text", TEXT);
        of(table, "text", BPCHAR);
        of(table, "name", NAME);
        regex(table, "regexp_like_no_flags", TEXT, Regex.LetterMatching.EXACT, Asks.MATCH);
        table.unary("similar_to_escape_1", TEXT, TEXT, pattern -> SimilarPattern.regex(pattern, "\\"));
        table.binary("similar_to_escape_2", TEXT, TEXT, TEXT, PatternFunctions::similar);
        table.sited("similar_escape", List.of(TEXT, TEXT), TEXT, (_, arguments) -> {
                    Object pattern = arguments[0];
                    Object escape = arguments[1];
                    return pattern == null
                            ? null
                            : similar(TEXT.cast(pattern), escape == null ? "\\" : TEXT.cast(escape));
                })
                .calledOnNull();
    }

    /// Blank-padded texts are matched with their blanks.
    private static void of(FunctionTable table, String prefix, ValueType<String> type) {
        table.binary(prefix + "like", type, TEXT, BOOL, LikePattern::matches).uses(BuiltIn.CollationUse.EQUALITY);
        table.binary(prefix + "nlike", type, TEXT, BOOL, (a, pattern) -> !LikePattern.matches(a, pattern))
                .uses(BuiltIn.CollationUse.EQUALITY);
        caseless(table, prefix + "iclike", type, Asks.MATCH);
        caseless(table, prefix + "icnlike", type, Asks.NO_MATCH);
        regex(table, prefix + "regexeq", type, Regex.LetterMatching.EXACT, Asks.MATCH);
        regex(table, prefix + "regexne", type, Regex.LetterMatching.EXACT, Asks.NO_MATCH);
        regex(table, prefix + "icregexeq", type, Regex.LetterMatching.CASELESS, Asks.MATCH);
        regex(table, prefix + "icregexne", type, Regex.LetterMatching.CASELESS, Asks.NO_MATCH);
    }

    /// ILIKE compares the lower case of both sides.
    private static void caseless(FunctionTable table, String symbol, ValueType<String> type, Asks asks) {
        table.sited(symbol, List.of(type, TEXT), BOOL, (site, arguments) -> {
                    CollationRule collation = deterministic(site);
                    String text = LetterCases.lower(Arguments.given(type, arguments[0]), collation);
                    String pattern = LetterCases.lower(Arguments.given(TEXT, arguments[1]), collation);
                    return asks.answer(LikePattern.matches(text, pattern));
                })
                .uses(BuiltIn.CollationUse.CASE);
    }

    private static void regex(
            FunctionTable table, String symbol, ValueType<String> type, Regex.LetterMatching letters, Asks asks) {
        table.sited(symbol, List.of(type, TEXT), BOOL, new RegexBody(type, letters, asks))
                .uses(
                        letters == Regex.LetterMatching.EXACT
                                ? BuiltIn.CollationUse.EQUALITY
                                : BuiltIn.CollationUse.CASE);
    }

    private record RegexBody(ValueType<String> type, Regex.LetterMatching letters, Asks asks) implements BuiltIn.Body {
        @Override
        public Object apply(BuiltIn.CallSite site, @Nullable Object[] arguments) {
            Regex regex = compiled(site, Arguments.given(TEXT, arguments[1]));
            return asks.answer(regex.isFoundIn(Arguments.given(type, arguments[0])));
        }

        /// A constant pattern is compiled once.
        @Override
        public BuiltIn.Body prepared(BuiltIn.CallSite site, @Nullable Object[] constants) {
            Object pattern = constants[1];
            if (pattern == null) {
                return this;
            }
            Regex regex;
            try {
                regex = compiled(site, TEXT.cast(pattern));
            } catch (EvaluationException atEachCall) {
                return this;
            }
            return (_, arguments) -> asks.answer(regex.isFoundIn(Arguments.given(type, arguments[0])));
        }

        /// A pattern is compiled for an estimate; one that is not read here may be an error there.
        @Override
        public boolean mayFailPlanning(BuiltIn.CallSite site, @Nullable Object[] constants) {
            Object pattern = constants[1];
            if (pattern == null) {
                return false;
            }
            try {
                Regex ignored = compiled(site, TEXT.cast(pattern));
                return false;
            } catch (EvaluationException notRead) {
                return true;
            }
        }

        private Regex compiled(BuiltIn.CallSite site, String pattern) {
            return Regex.compile(pattern, letters, deterministic(site));
        }
    }

    /// Patterns under collations that call different texts equal are an error or another search, by major.
    private static CollationRule deterministic(BuiltIn.CallSite site) {
        if (!site.collation().equalByBytes()) {
            throw new UndecidableException();
        }
        return site.collation();
    }

    private static String similar(String pattern, String escape) {
        if (Characters.count(escape) > 1) {
            throw new EvaluationException(INVALID_ESCAPE);
        }
        return SimilarPattern.regex(pattern, escape);
    }
}
