package sluice.server.logging;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import sluice.core.error.ErrorCode;
import sluice.core.stream.CloseReason;

/// The lines requests and streams cause. Thread-safe.
public final class RequestLog {
    static final int REFUSED_SUBSCRIPTIONS_MAX = 20;
    private static final long STREAMS_REFUSED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Logger LOG = LoggerFactory.getLogger("sluice.http");

    /// A request this server answered with an error.
    public record RefusedRequest(String requestId, String path, int status, String code, String reason) {}

    /// One entry of a request's `subscriptions` that was refused.
    ///
    /// @param table `schema.table` as asked for, null when the entry named none
    public record RefusedSubscription(
            String label, @Nullable String table, ErrorCode code, String reason) {}

    /// A stream the server ended.
    ///
    /// @param error what failed, for `write_failed` only
    public record EndedStream(
            String requestId,
            String streamId,
            CloseReason reason,
            @Nullable String error) {}

    /// How many streams were refused since the code's last line, and when that was.
    private static final class Refusals {
        private long count;
        private @Nullable Long lastLineNanos;
    }

    /// Why a server that ends streams by stopping does so, where nobody asked it to.
    private static final String REPLICATION_STOPPED = "replication_stopped";

    private final AtomicBoolean replicationStopped = new AtomicBoolean();
    private final LongSupplier nanoClock;
    private final Map<ErrorCode, Refusals> refusalsByCode = Collections.synchronizedMap(new EnumMap<>(ErrorCode.class));

    /// @param nanoClock monotonic nanoseconds, as `System.nanoTime`
    public RequestLog(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    public void requestRefused(RefusedRequest refused) {
        boolean serious = refused.status() >= 500 && !refused.code().equals(ErrorCode.SERVER_SHUTDOWN.wireName());
        (serious ? LOG.atWarn() : LOG.atInfo())
                .addKeyValue("request_id", refused.requestId())
                .addKeyValue("path", ClientText.cut(refused.path()))
                .addKeyValue("status", refused.status())
                .addKeyValue("code", refused.code())
                .addKeyValue("reason", ClientText.cut(refused.reason()))
                .log("request refused");
    }

    /// A new stream refused for the whole server's sake: at most one line a second for each code.
    public void streamRefused(String requestId, ErrorCode code, String reason) {
        Refusals refusals = refusalsByCode.computeIfAbsent(code, absent -> new Refusals());
        long count;
        synchronized (refusals) {
            refusals.count++;
            long now = nanoClock.getAsLong();
            Long last = refusals.lastLineNanos;
            if (last != null && now - last < STREAMS_REFUSED_PAUSE_NANOS) {
                return;
            }
            count = refusals.count;
            refusals.count = 0;
            refusals.lastLineNanos = now;
        }
        LOG.atWarn()
                .addKeyValue("request_id", requestId)
                .addKeyValue("code", code.wireName())
                .addKeyValue("reason", ClientText.cut(reason))
                .addKeyValue("refused", count)
                .log("streams refused");
    }

    /// The refused entries of one request: twenty lines, then one that counts the rest.
    public void subscriptionsRefused(String requestId, List<RefusedSubscription> refused) {
        for (RefusedSubscription one : refused.subList(0, Math.min(refused.size(), REFUSED_SUBSCRIPTIONS_MAX))) {
            LoggingEventBuilder line = (isNodeWide(one.code()) ? LOG.atWarn() : LOG.atInfo())
                    .addKeyValue("request_id", requestId)
                    .addKeyValue("sub", ClientText.cut(one.label()));
            if (one.table() != null) {
                line = line.addKeyValue("table", ClientText.cut(one.table()));
            }
            line.addKeyValue("code", one.code().wireName())
                    .addKeyValue("reason", ClientText.cut(one.reason()))
                    .log("subscription refused");
        }
        if (refused.size() > REFUSED_SUBSCRIPTIONS_MAX) {
            LOG.atInfo()
                    .addKeyValue("request_id", requestId)
                    .addKeyValue("count", refused.size() - REFUSED_SUBSCRIPTIONS_MAX)
                    .log("more subscriptions refused");
        }
    }

    private static boolean isNodeWide(ErrorCode code) {
        return code == ErrorCode.TOO_MANY_UNINDEXED_SHAPES || code == ErrorCode.CATALOG_UNAVAILABLE;
    }

    /// The server stops because it can no longer read the log: streams that end from here on say so.
    public void replicationStopped() {
        replicationStopped.set(true);
    }

    /// A client that hangs up causes no line: it is no event for anyone who runs a server.
    public void streamEnded(EndedStream ended) {
        if (ended.reason() == CloseReason.CLIENT_CLOSED) {
            return;
        }
        LoggingEventBuilder line = LOG.atInfo()
                .addKeyValue("request_id", ended.requestId())
                .addKeyValue("stream_id", ended.streamId())
                .addKeyValue("code", ended.reason().wireName());
        if (ended.error() != null) {
            line = line.addKeyValue("err", ended.error());
        }
        if (ended.reason() == CloseReason.SERVER_SHUTDOWN && replicationStopped.get()) {
            line = line.addKeyValue("cause", REPLICATION_STOPPED);
        }
        line.log("stream ended");
    }

    /// Something failed that never should; the kind is logged, not the text, which may repeat a client's words.
    public void unexpected(String requestId, Throwable failure) {
        LOG.atError()
                .addKeyValue("request_id", requestId)
                .addKeyValue("err", failure.getClass().getName())
                .addKeyValue("at", place(failure))
                .log("request failed");
    }

    private static String place(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        return trace.length == 0 ? "unknown" : trace[0].toString();
    }
}
