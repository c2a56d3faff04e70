package sluice.core.shape;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;

/// Which operations a subscription asked for.
public final class Operations {
    /// There are four, and two words for three of them.
    static final int NAMES_MAX = 16;

    private static final Set<Operation> ROWS = EnumSet.of(Operation.INSERT, Operation.UPDATE, Operation.DELETE);

    /// What most subscriptions ask for.
    private static final Operations EVERY_ROW = new Operations(EnumSet.copyOf(ROWS));

    private final EnumSet<Operation> wanted;

    private Operations(EnumSet<Operation> wanted) {
        this.wanted = wanted;
    }

    /// @param names case does not matter; `*` and `ALL` mean INSERT, UPDATE and DELETE, as null does
    /// @throws RequestException `INVALID_OPS` naming the first name that is none, or for an empty list
    public static Operations parse(@Nullable List<String> names) {
        if (names == null) {
            return EVERY_ROW;
        }
        EnumSet<Operation> wanted = EnumSet.noneOf(Operation.class);
        if (names.size() > NAMES_MAX) {
            throw new RequestException(
                    ErrorCode.INVALID_OPS, "ops has more than " + NAMES_MAX + " names; name each operation once");
        }
        for (String name : names) {
            switch (name.strip().toUpperCase(Locale.ROOT)) {
                case "*", "ALL" -> wanted.addAll(ROWS);
                case "INSERT" -> wanted.add(Operation.INSERT);
                case "UPDATE" -> wanted.add(Operation.UPDATE);
                case "DELETE" -> wanted.add(Operation.DELETE);
                case "TRUNCATE" -> wanted.add(Operation.TRUNCATE);
                default ->
                    throw new RequestException(
                            ErrorCode.INVALID_OPS,
                            "there is no operation \"" + name + "\"; ops are INSERT, UPDATE, DELETE, TRUNCATE, ALL");
            }
        }
        if (wanted.isEmpty()) {
            throw new RequestException(ErrorCode.INVALID_OPS, "ops is empty");
        }
        return wanted.equals(ROWS) ? EVERY_ROW : new Operations(wanted);
    }

    public boolean include(Operation operation) {
        return wanted.contains(operation);
    }
}
