package sluice.core.function;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import sluice.core.datum.UndecidableException;

/// A field that `extract`, `date_part` and `date_trunc` know by name.
enum TimeField {
    MICROSECONDS("microseconds microsecond us usec usecs"),
    MILLISECONDS("milliseconds millisecond ms msec msecs"),
    SECOND("second seconds sec secs s"),
    MINUTE("minute minutes min mins m"),
    HOUR("hour hours hr hrs h"),
    DAY("day days d"),
    WEEK("week weeks w"),
    MONTH("month months mon mons"),
    QUARTER("quarter qtr"),
    YEAR("year years yr yrs y"),
    DECADE("decade decades dec decs"),
    CENTURY("century centuries cent c"),
    MILLENNIUM("millennium millennia mil mils"),
    DAY_OF_WEEK("dow"),
    ISO_DAY_OF_WEEK("isodow"),
    DAY_OF_YEAR("doy"),
    ISO_YEAR("isoyear"),
    JULIAN("julian"),
    EPOCH("epoch"),
    ZONE("timezone"),
    ZONE_HOUR("timezone_hour"),
    ZONE_MINUTE("timezone_minute");

    private static final Map<String, TimeField> BY_NAME = new HashMap<>();

    static {
        for (TimeField field : values()) {
            for (String name : field.names.split(" ")) {
                BY_NAME.put(name, field);
            }
        }
    }

    private final String names;

    /// @param names apart by blanks
    TimeField(String names) {
        this.names = names;
    }

    /// @throws UndecidableException for another name: the server may know it
    static TimeField of(String name) {
        TimeField field = BY_NAME.get(name.toLowerCase(Locale.ROOT));
        if (field == null) {
            throw new UndecidableException();
        }
        return field;
    }
}
