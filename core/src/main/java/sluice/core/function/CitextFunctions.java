package sluice.core.function;

import static sluice.core.datum.ValueTypes.TEXT;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.Datums;
import sluice.core.datum.ValueTypes;

/// The comparisons of `citext` (`citext.c`), by the library and symbol that `pg_proc` names.
///
/// Both sides are brought to lower case under the database's default collation, whatever the column's is. Equality
/// compares the bytes of that; order asks the collation of the expression.
public final class CitextFunctions {
    private static final String LIBRARY = "$libdir/citext:citext_";

    private static final Map<String, BuiltIn> BY_SOURCE = bySource();

    private CitextFunctions() {}

    /// A function of two arguments whose call site has the default collation; its collation use
    /// is that of the order.
    ///
    /// @param source library and symbol
    public static @Nullable BuiltIn find(String source) {
        return BY_SOURCE.get(source);
    }

    private static Map<String, BuiltIn> bySource() {
        Map<String, BuiltIn> bySource = new LinkedHashMap<>();
        for (ComparisonKind kind : ComparisonKind.values()) {
            boolean equality = kind == ComparisonKind.EQUAL || kind == ComparisonKind.NOT_EQUAL;
            String source = LIBRARY + kind.suffix();
            bySource.put(
                    source,
                    new BuiltIn(
                            source,
                            List.of(TEXT.oid(), TEXT.oid()),
                            ValueTypes.BOOL.oid(),
                            BuiltIn.Nulls.STRICT,
                            // letters beyond ASCII are not known
                            BuiltIn.Errors.POSSIBLE,
                            equality ? BuiltIn.CollationUse.NONE : BuiltIn.CollationUse.ORDER,
                            null,
                            (site, arguments) -> kind.holds(
                                    Datums.compareBytes(lower(site, arguments[0]), lower(site, arguments[1])))));
        }
        return Collections.unmodifiableMap(bySource);
    }

    private static String lower(BuiltIn.CallSite site, @Nullable Object text) {
        return LetterCases.lower(Arguments.given(TEXT, text), site.collation());
    }
}
