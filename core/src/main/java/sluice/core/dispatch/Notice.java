package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Something worth a log line, as data. Never holds a token, a claim, a payload or a row value.
///
/// @param message a constant phrase
/// @param fields alternating names and values
public record Notice(Level level, String message, List<String> fields) {
    /// Names the field that holds the number of the client's request which the notice is a consequence of, where it
    /// is not the one that opened the stream.
    public static final String REQUEST = "request";

    public Notice {
        fields = List.copyOf(fields);
    }

    /// The same with one more field.
    public Notice with(String name, String value) {
        List<String> more = new ArrayList<>(fields);
        more.add(name);
        more.add(value);
        return new Notice(level, message, more);
    }

    /// The value of a field, null when there is none of that name.
    public @Nullable String field(String name) {
        for (int i = 0; i < fields.size(); i += 2) {
            if (fields.get(i).equals(name)) {
                return fields.get(i + 1);
            }
        }
        return null;
    }

    /// The same without a field.
    public Notice without(String name) {
        List<String> fewer = new ArrayList<>(fields);
        for (int i = 0; i < fewer.size(); i += 2) {
            if (fewer.get(i).equals(name)) {
                fewer.subList(i, i + 2).clear();
                break;
            }
        }
        return new Notice(level, message, fewer);
    }

    /// ERROR: someone must act now. WARN: it will become that. INFO: changed state, once.
    public enum Level {
        INFO,
        WARN,
        ERROR
    }
}
