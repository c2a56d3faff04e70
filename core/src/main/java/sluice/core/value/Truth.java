package sluice.core.value;

/// The four answers to "may this row be seen?". Only TRUE delivers.
///
/// NULL is SQL's own; UNDECIDABLE means the log did not carry what the answer needs. They are never the same thing.
public enum Truth {
    TRUE,
    FALSE,
    NULL,
    UNDECIDABLE;

    public static Truth of(boolean value) {
        return value ? TRUE : FALSE;
    }

    /// SQL's AND, widened: FALSE wins over everything, then UNDECIDABLE over NULL over TRUE.
    public Truth and(Truth other) {
        if (this == FALSE || other == FALSE) {
            return FALSE;
        }
        if (this == UNDECIDABLE || other == UNDECIDABLE) {
            return UNDECIDABLE;
        }
        return this == NULL || other == NULL ? NULL : TRUE;
    }

    /// SQL's OR, widened: TRUE wins over everything, then UNDECIDABLE over NULL over FALSE.
    public Truth or(Truth other) {
        if (this == TRUE || other == TRUE) {
            return TRUE;
        }
        if (this == UNDECIDABLE || other == UNDECIDABLE) {
            return UNDECIDABLE;
        }
        return this == NULL || other == NULL ? NULL : FALSE;
    }

    public Truth not() {
        return switch (this) {
            case TRUE -> FALSE;
            case FALSE -> TRUE;
            case NULL -> NULL;
            case UNDECIDABLE -> UNDECIDABLE;
        };
    }
}
