package sluice.server.app;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/// What a logger of the server wrote since this was made, one text a line: level, message, fields.
final class CapturedLog {
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private CapturedLog() {}

    static CapturedLog of(String logger) {
        CapturedLog log = new CapturedLog();
        log.appender.start();
        ((Logger) LoggerFactory.getLogger(logger)).addAppender(log.appender);
        return log;
    }

    /// Lines whose message begins like this.
    List<String> lines(String beginning) {
        return List.copyOf(appender.list).stream()
                .filter(event -> event.getMessage().startsWith(beginning))
                .map(event -> event.getLevel() + " " + event.getMessage() + " " + event.getKeyValuePairs())
                .toList();
    }
}
