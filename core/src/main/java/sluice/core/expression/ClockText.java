package sluice.core.expression;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import sluice.core.datum.ValueType;
import sluice.core.value.Oid;

/// A commit's time in the text the server prints, in the time zone every connection pins (UTC).
final class ClockText {
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("uuuu-MM-dd", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter TIMESTAMP = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private ClockText() {}

    /// Whether a clock of the type is known.
    static boolean knows(int typeOid) {
        return typeOid == Oid.DATE || typeOid == Oid.TIMESTAMP || typeOid == Oid.TIMESTAMPTZ;
    }

    /// @param type one that {@link #knows} accepts
    static String of(ValueType<?> type, Instant at) {
        return switch (type.oid()) {
            case Oid.DATE -> DATE.format(at);
            case Oid.TIMESTAMP -> TIMESTAMP.format(at);
            case Oid.TIMESTAMPTZ -> TIMESTAMP.format(at) + "+00";
            default -> throw new IllegalArgumentException("no clock of type " + type);
        };
    }
}
