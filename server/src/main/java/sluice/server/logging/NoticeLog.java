package sluice.server.logging;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import sluice.core.dispatch.Notice;

/// Writes what the engine found worth a line.
public final class NoticeLog {
    private static final Logger LOG = LoggerFactory.getLogger("sluice.engine");

    private NoticeLog() {}

    public static void write(Notice notice) {
        LoggingEventBuilder line = switch (notice.level()) {
            case INFO -> LOG.atInfo();
            case WARN -> LOG.atWarn();
            case ERROR -> LOG.atError();
        };
        List<String> fields = notice.fields();
        for (int i = 0; i + 1 < fields.size(); i += 2) {
            line = line.addKeyValue(fields.get(i), ClientText.cut(fields.get(i + 1)));
        }
        line.log(notice.message());
    }
}
