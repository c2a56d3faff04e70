package sluice.core.function;

import static sluice.core.datum.TextTypes.BPCHAR;
import static sluice.core.datum.TextTypes.CHAR;
import static sluice.core.datum.TextTypes.NAME;
import static sluice.core.datum.ValueTypes.BOOL;
import static sluice.core.datum.ValueTypes.TEXT;
import static sluice.core.datum.ValueTypes.UUID;

import sluice.core.datum.Datums;
import sluice.core.datum.TextTypes;
import sluice.core.datum.ValueType;

/// Comparisons of texts and uuids (`varlena.c`, `varchar.c`, `name.c`, `char.c`, `uuid.c`).
final class TextComparisons {
    private TextComparisons() {}

    static void register(FunctionTable table) {
        table.ordered("uuid_", UUID);
        table.ordered("char", CHAR);
        for (ComparisonKind kind : ComparisonKind.values()) {
            BuiltIn.CollationUse use = use(kind);
            String name = kind.suffix();
            String textName = (use == BuiltIn.CollationUse.EQUALITY ? "text" : "text_") + name;
            table.comparison(textName, TEXT, TEXT, kind, use);
            table.comparison("bpchar" + name, BPCHAR, BPCHAR, kind, use);
            table.comparison("name" + name, NAME, NAME, kind, use);
            table.comparison("name" + name + "text", NAME, TEXT, kind, use);
            table.comparison("text" + name + "name", TEXT, NAME, kind, use);
            if (use == BuiltIn.CollationUse.ORDER) {
                byBytes(table, "text_pattern_" + name, TEXT, kind);
                byBytes(table, "bpchar_pattern_" + name, BPCHAR, kind);
            }
        }
    }

    /// Equality needs a deterministic collation, order one that sorts bytes.
    private static BuiltIn.CollationUse use(ComparisonKind kind) {
        return switch (kind) {
            case EQUAL, NOT_EQUAL -> BuiltIn.CollationUse.EQUALITY;
            case LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL -> BuiltIn.CollationUse.ORDER;
        };
    }

    /// The operators `~<~`, `~<=~`, `~>~` and `~>=~`, which ask no collation.
    private static void byBytes(FunctionTable table, String symbol, ValueType<String> type, ComparisonKind kind) {
        boolean blanksCount = !type.equals(BPCHAR);
        table.binary(symbol, type, type, BOOL, (a, b) -> {
                    String left = blanksCount ? a : TextTypes.withoutTrailingBlanks(a);
                    String right = blanksCount ? b : TextTypes.withoutTrailingBlanks(b);
                    return kind.holds(Datums.compareBytes(left, right));
                })
                .neverRaises();
    }
}
