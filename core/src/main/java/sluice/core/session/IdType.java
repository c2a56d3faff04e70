package sluice.core.session;

import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.UndecidableException;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

/// How the ids of a column are compared: as its type compares them. A uuid in a token is any spelling of it, a number
/// is its value, a text is its characters, case and all; `char(n)` ignores the blanks behind it.
///
/// Two ids are equal when their keys are. Immutable.
public final class IdType {
    private final ValueType<?> type;

    private IdType(ValueType<?> type) {
        this.type = type;
    }

    /// Whether a text is an id of the type.
    public sealed interface Reading {
        /// @param key the one text that stands for every spelling of the id
        record Known(String key) implements Reading {}

        /// No row can have this id.
        record Impossible() implements Reading {}

        /// PostgreSQL may know which id this is; here it is not known.
        record Undecided() implements Reading {}
    }

    /// The way ids of this type are compared, null when a type is not one for ids. Domains count as what they are
    /// made of.
    public static @Nullable IdType of(PgType type) {
        PgType base = type.undomained();
        return switch (base.oid()) {
            case Oid.UUID, Oid.INT2, Oid.INT4, Oid.INT8, Oid.TEXT, Oid.VARCHAR, Oid.BPCHAR -> {
                ValueType<?> known = ValueTypes.ofOid(base.oid());
                yield known == null ? null : new IdType(known);
            }
            default -> null;
        };
    }

    /// What a token's text is as an id.
    public Reading read(String text) {
        if (text.indexOf('\0') >= 0) {
            return new Reading.Impossible();
        }
        try {
            return new Reading.Known(key(type, text));
        } catch (UndecidableException e) {
            return new Reading.Undecided();
        } catch (EvaluationException e) {
            return new Reading.Impossible();
        }
    }

    /// The key of an id as the log and queries print it.
    public String printed(String text) {
        return type.oid() == Oid.BPCHAR ? withoutTrailingBlanks(text) : text;
    }

    private static <T> String key(ValueType<T> type, String text) {
        return type.oid() == Oid.BPCHAR ? withoutTrailingBlanks(text) : type.print(type.input(text));
    }

    private static String withoutTrailingBlanks(String text) {
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == ' ') {
            end--;
        }
        return text.substring(0, end);
    }

    /// The type's name in SQL, qualified.
    public String sqlName() {
        return type.sqlName();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IdType that && that.type.equals(type);
    }

    @Override
    public int hashCode() {
        return type.hashCode();
    }

    @Override
    public String toString() {
        return type.sqlName();
    }
}
