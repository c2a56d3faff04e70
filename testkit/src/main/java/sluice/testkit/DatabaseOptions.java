package sluice.testkit;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How a database differs from the cluster's default.
///
/// @param icuLocale such as `en-US` or `und-u-ks-level2`, or null for the C.UTF-8 of the cluster
/// @param settings what `ALTER DATABASE ... SET` makes the default of every session
public record DatabaseOptions(@Nullable String icuLocale, Map<String, String> settings) {
    public DatabaseOptions {
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    }

    public static DatabaseOptions plain() {
        return new DatabaseOptions(null, Map.of());
    }

    /// Every default that changes how PostgreSQL prints or compares a value, at an unusual value.
    /// Code that pins its
    /// session settings does not notice.
    public static DatabaseOptions unusual() {
        return plain().icu("en-US")
                .set("TimeZone", "Australia/Sydney")
                .set("DateStyle", "German, DMY")
                .set("IntervalStyle", "postgres_verbose")
                .set("bytea_output", "escape")
                .set("extra_float_digits", "0")
                .set("xmlbinary", "hex");
    }

    public DatabaseOptions icu(String locale) {
        return new DatabaseOptions(locale, settings);
    }

    public DatabaseOptions set(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(name, value);
        return new DatabaseOptions(icuLocale, more);
    }
}
