package sluice.core.function;

import static sluice.core.datum.ValueTypes.TEXT;
import static sluice.core.datum.ValueTypes.UUID;

/// Comparisons of texts and uuids (`varlena.c`, `uuid.c`).
final class TextComparisons {
    private TextComparisons() {}

    static void register(FunctionTable table) {
        table.ordered("uuid_", UUID);
        for (ComparisonKind kind : ComparisonKind.values()) {
            boolean equality = kind == ComparisonKind.EQUAL || kind == ComparisonKind.NOT_EQUAL;
            String symbol = (equality ? "text" : "text_") + kind.suffix();
            table.comparison(
                    symbol, TEXT, TEXT, kind, equality ? BuiltIn.CollationUse.EQUALITY : BuiltIn.CollationUse.ORDER);
        }
    }
}
