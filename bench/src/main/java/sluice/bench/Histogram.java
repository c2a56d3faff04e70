package sluice.bench;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Live objects of a JVM by class, as its class histogram prints them after a full collection.
///
/// @param bytesByClass in the order of printing, the largest first
/// @param totalBytes of all classes
record Histogram(Map<String, Long> bytesByClass, long totalBytes) {
    private static final Pattern LINE = Pattern.compile("(?m)^\\s*\\d+:\\s+\\d+\\s+(\\d+)\\s+(\\S+)");
    private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");

    /// @throws BenchException when it is not what a class histogram looks like
    static Histogram of(String printed) throws BenchException {
        Map<String, Long> bytes = new LinkedHashMap<>();
        Matcher line = LINE.matcher(printed);
        while (line.find()) {
            // Hidden classes of lambdas share a name up to a number.
            bytes.merge(line.group(2).replaceAll("/0x[0-9a-f]+$", ""), Long.parseLong(line.group(1)), Long::sum);
        }
        Matcher total = TOTAL.matcher(printed);
        if (!total.find()) {
            throw new BenchException("the server's class histogram cannot be read");
        }
        return new Histogram(bytes, Long.parseLong(total.group(1)));
    }

    /// The classes that grew most since `before`, in bytes for each of `streams`.
    String growth(Histogram before, int streams, int linesMax) {
        return bytesByClass.entrySet().stream()
                .map(entry -> Map.entry(
                        entry.getKey(), entry.getValue() - before.bytesByClass.getOrDefault(entry.getKey(), 0L)))
                .sorted(Comparator.comparingLong(entry -> -entry.getValue()))
                .limit(linesMax)
                .map(entry -> "%7.1f B  %s".formatted((double) entry.getValue() / streams, entry.getKey()))
                .collect(Collectors.joining("\n"));
    }
}
