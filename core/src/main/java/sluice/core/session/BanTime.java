package sluice.core.session;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import sluice.core.datum.EvaluationException;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.ValueType;
import sluice.core.value.Oid;

/// Until when a user is banned, out of the text of a ban column.
public final class BanTime {
    /// A ban that nothing but its end by hand ends.
    public static final Instant FOREVER = Instant.MAX;

    private static final Instant EPOCH = Instant.parse("2000-01-01T00:00:00Z");

    private BanTime() {}

    /// Whether a column of this type says until when a user is banned. A domain's oid is that of
    /// what it is made of.
    public static boolean isOne(int typeOid) {
        return type(typeOid) != null;
    }

    /// @param text as the log prints it
    /// @return a moment, which may have passed; {@link #FOREVER} for `infinity` and for what cannot be read, since
    ///     nobody knows when such a ban ends
    public static Instant parse(int typeOid, String text) {
        ValueType<Long> type = type(typeOid);
        if (type == null) {
            return FOREVER;
        }
        long value;
        try {
            value = type.parse(text);
        } catch (EvaluationException e) {
            return FOREVER;
        }
        if (typeOid == Oid.DATE) {
            if (!TimeTypes.isFiniteDate(value)) {
                return value > 0 ? FOREVER : Instant.MIN;
            }
            return EPOCH.plus(value, ChronoUnit.DAYS);
        }
        if (!TimeTypes.isFinite(value)) {
            return value > 0 ? FOREVER : Instant.MIN;
        }
        return EPOCH.plus(value, ChronoUnit.MICROS);
    }

    private static @Nullable ValueType<Long> type(int oid) {
        return switch (oid) {
            case Oid.TIMESTAMPTZ -> TimeTypes.TIMESTAMPTZ;
            case Oid.TIMESTAMP -> TimeTypes.TIMESTAMP;
            case Oid.DATE -> TimeTypes.DATE;
            default -> null;
        };
    }
}
