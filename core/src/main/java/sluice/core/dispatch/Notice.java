package sluice.core.dispatch;

import java.util.ArrayList;
import java.util.List;

/// Something worth a log line, as data. Never holds a token, a claim, a payload or a row value.
///
/// @param message a constant phrase
/// @param fields alternating names and values
public record Notice(Level level, String message, List<String> fields) {
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

    /// ERROR: someone must act now. WARN: it will become that. INFO: changed state, once.
    public enum Level {
        INFO,
        WARN,
        ERROR
    }
}
