package sluice.server.logging;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.io.OutputStream;
import net.logstash.logback.composite.loggingevent.KeyValuePairsJsonProvider;
import net.logstash.logback.composite.loggingevent.LogLevelJsonProvider;
import net.logstash.logback.composite.loggingevent.LoggingEventFormattedTimestampJsonProvider;
import net.logstash.logback.composite.loggingevent.LoggingEventJsonProviders;
import net.logstash.logback.composite.loggingevent.MessageJsonProvider;
import net.logstash.logback.composite.loggingevent.StackTraceJsonProvider;
import net.logstash.logback.encoder.LoggingEventCompositeJsonEncoder;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/// Decides once, at start, where log lines go and what they look like.
public final class LogSetup {
    private LogSetup() {}

    /// Replaces whatever was configured: one appender, one format, one level.
    ///
    /// JSON lines begin with `time`, `level` and `msg`; the line's own fields follow in the order they were given.
    ///
    /// @param out where lines go; stays open
    public static void apply(LogFormat format, LogLevel level, OutputStream out) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) {
            throw new IllegalStateException("logs go to " + factory.getClass().getName() + ", not to Logback");
        }
        context.reset();
        Encoder<ILoggingEvent> encoder = switch (format) {
            case JSON -> json(context);
            case TEXT -> text(context);
        };
        encoder.start();
        OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
        appender.setContext(context);
        appender.setName("out");
        appender.setEncoder(encoder);
        appender.setOutputStream(out);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.addAppender(appender);
        root.setLevel(
                switch (level) {
                    case DEBUG -> Level.DEBUG;
                    case INFO -> Level.INFO;
                    case WARN -> Level.WARN;
                    case ERROR -> Level.ERROR;
                });
        // At DEBUG a library may print what it carries, and what it carries here is tokens and rows.
        for (String library : new String[] {"io.netty", "org.postgresql", "com.zaxxer", "com.nimbusds", "io.zonky"}) {
            context.getLogger(library).setLevel(level == LogLevel.ERROR ? Level.ERROR : Level.WARN);
        }
        // the pool warns, with a stack, of what its users report in a line of their own
        context.getLogger("com.zaxxer").setLevel(Level.ERROR);
    }

    private static Encoder<ILoggingEvent> json(LoggerContext context) {
        LoggingEventFormattedTimestampJsonProvider time = new LoggingEventFormattedTimestampJsonProvider();
        time.setFieldName("time");
        time.setTimeZone("UTC");
        MessageJsonProvider message = new MessageJsonProvider();
        message.setFieldName("msg");
        StackTraceJsonProvider stack = new StackTraceJsonProvider();
        stack.setFieldName("stack");
        LoggingEventJsonProviders providers = new LoggingEventJsonProviders();
        providers.addTimestamp(time);
        providers.addLogLevel(new LogLevelJsonProvider());
        providers.addMessage(message);
        providers.addKeyValuePairs(new KeyValuePairsJsonProvider());
        providers.addStackTrace(stack);
        LoggingEventCompositeJsonEncoder encoder = new LoggingEventCompositeJsonEncoder();
        encoder.setContext(context);
        encoder.setProviders(providers);
        return encoder;
    }

    private static Encoder<ILoggingEvent> text(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        // a line break in a field must not look like a line of its own
        encoder.setPattern(
                "%d{\"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\",UTC} %-5level %replace(%msg %kvp){'[\\r\\n]', ' '}%n%ex");
        return encoder;
    }
}
