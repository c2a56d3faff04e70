package sluice.core.dispatch;

import org.jspecify.annotations.Nullable;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.transaction.Change;

/// What every kind of change has.
final class ChangedRow {
    private ChangedRow() {}

    static Operation operation(Change change) {
        return switch (change) {
            case Change.Insert insert -> Operation.INSERT;
            case Change.Update update -> Operation.UPDATE;
            case Change.Delete delete -> Operation.DELETE;
            case Change.Truncate truncate -> Operation.TRUNCATE;
        };
    }

    static @Nullable Tuple newTuple(Change change) {
        return switch (change) {
            case Change.Insert insert -> insert.row();
            case Change.Update update -> update.row();
            case Change.Delete delete -> null;
            case Change.Truncate truncate -> null;
        };
    }

    static @Nullable Tuple oldTuple(Change change) {
        return switch (change) {
            case Change.Insert insert -> null;
            case Change.Update update -> update.old();
            case Change.Delete delete -> delete.old();
            case Change.Truncate truncate -> null;
        };
    }
}
