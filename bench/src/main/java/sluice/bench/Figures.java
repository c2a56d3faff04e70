package sluice.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What one scenario measured.
///
/// @param values by name, in the order of printing; the five that every scenario has come first, null where a
///     scenario does not measure one
/// @param notes lines for people, which the JSON leaves out
/// @param faults events that were lost, came twice or out of order, and streams that ended
record Figures(String scenario, Map<String, @Nullable Object> values, String notes, long faults) {
    static final String HEAP = "heap_bytes_per_stream";
    static final String CPU = "cpu_us_per_delivery";
    static final String ALLOCATED = "bytes_allocated_per_delivery";
    static final String P50 = "p50_ms";
    static final String P99 = "p99_ms";

    /// Ending of the name under which the least and the greatest of a median's rounds stand.
    static final String SPREAD = "_spread";

    /// To be filled, the five names in place.
    static Map<String, @Nullable Object> blank() {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put(HEAP, null);
        values.put(CPU, null);
        values.put(ALLOCATED, null);
        values.put(P50, null);
        values.put(P99, null);
        return values;
    }
}
