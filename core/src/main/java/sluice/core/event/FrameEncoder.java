package sluice.core.event;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonString;
import sluice.core.wal.Lsn;

/// Stream events other than changes as whole frames of Server-Sent Events:
///
/// ```
/// event: <kind>
/// data: <one line of JSON>
/// <blank line>
/// ```
///
/// The JSON never holds a raw line end, whatever its strings hold.
public final class FrameEncoder {
    private FrameEncoder() {}

    /// The comment that keeps an idle stream alive, a new array each time.
    public static byte[] heartbeat() {
        return ": hb\n\n".getBytes(StandardCharsets.US_ASCII);
    }

    public static byte[] frame(StreamEvent event) {
        var out = new ByteSink(256);
        switch (event) {
            case StreamEvent.Ready ready -> {
                out.put("event: ready\ndata: ");
                ready(ready, out);
            }
            case StreamEvent.SnapshotEnd(var sub, var rows, var floorLsn, var completeness) -> {
                text("event: snapshot_end\ndata: {\"sub\":", sub, out);
                number(",\"rows\":", rows, out);
                text(",\"floor_lsn\":", floorLsn.toString(), out);
                out.put(completeness == StreamEvent.Completeness.TRUNCATED ? ",\"truncated\":true}" : "}");
            }
            case StreamEvent.Live(var sub, var walLsn) -> {
                text("event: live\ndata: {\"sub\":", sub, out);
                text(",\"wal_lsn\":", walLsn.toString(), out);
                out.put('}');
            }
            case StreamEvent.Commit commit -> {
                out.put("event: commit\ndata: ");
                commit(commit, out);
            }
            case StreamEvent.Delay(var lagMillis) -> {
                number("event: delay\ndata: {\"lag_ms\":", lagMillis, out);
                out.put('}');
            }
            case StreamEvent.Warning warning -> {
                out.put("event: warning\ndata: ");
                warning(warning, out);
            }
            case StreamEvent.Failure failure -> {
                out.put("event: error\ndata: ");
                failure(failure, out);
            }
        }
        out.put("\n\n");
        return out.toBytes();
    }

    /// The body of the answer to a request for more subscriptions.
    public static byte[] subscribed(List<SubscriptionResult> results, Lsn walLsn) {
        var out = new ByteSink(256);
        out.put("{\"results\":");
        results(results, out);
        text(",\"wal_lsn\":", walLsn.toString(), out);
        out.put('}');
        return out.toBytes();
    }

    private static void results(List<SubscriptionResult> results, ByteSink out) {
        out.put('[');
        for (int i = 0; i < results.size(); i++) {
            if (i > 0) {
                out.put(',');
            }
            result(results.get(i), out);
        }
        out.put(']');
    }

    /// The result as one JSON object, as `ready` lists it.
    static void result(SubscriptionResult result, ByteSink out) {
        out.put("{\"sub\":");
        JsonString.quote(result.sub(), out);
        switch (result.outcome()) {
            case SubscriptionResult.Granted granted -> granted(granted, out);
            case SubscriptionResult.Joined() -> out.put(",\"ok\":true");
            case SubscriptionResult.Refused refused -> {
                out.put(",\"ok\":false,\"error\":{");
                error(refused.code(), refused.message(), out);
                number(",\"retry_after_ms\":", refused.retryAfterMillis(), out);
                out.put('}');
            }
        }
        out.put('}');
    }

    private static void granted(SubscriptionResult.Granted granted, ByteSink out) {
        out.put(",\"ok\":true");
        text(",\"tier\":", granted.tier(), out);
        out.put(",\"indexed\":");
        out.put(granted.indexing() == SubscriptionResult.Indexing.INDEXED ? "true" : "false");
        text(",\"routing_key\":", granted.routingKey(), out);
        text(",\"reason\":", granted.reason(), out);
        text(",\"history\":", granted.history(), out);
        if (granted.resumed() != null) {
            out.put(granted.resumed() ? ",\"resumed\":true" : ",\"resumed\":false");
        }
        if (!granted.warnings().isEmpty()) {
            out.put(",\"warnings\":");
            char separator = '[';
            for (StreamEvent.Warning warning : granted.warnings()) {
                out.put(separator);
                warning(warning, out);
                separator = ',';
            }
            out.put(']');
        }
    }

    private static void ready(StreamEvent.Ready ready, ByteSink out) {
        text("{\"stream_id\":", ready.streamId(), out);
        text(",\"server_time\":", Timestamps.rfc3339(ready.serverTime()), out);
        number(",\"heartbeat_ms\":", ready.heartbeatMillis(), out);
        if (ready.walLsn() != null) {
            text(",\"wal_lsn\":", ready.walLsn().toString(), out);
        }
        number(",\"lag_ms\":", ready.lagMillis(), out);
        out.put(",\"subscriptions\":");
        results(ready.subscriptions(), out);
        out.put('}');
    }

    private static void commit(StreamEvent.Commit commit, ByteSink out) {
        out.put('{');
        if (commit.sub() != null) {
            text("\"sub\":", commit.sub(), out);
            out.put(',');
        }
        text("\"commit_lsn\":", commit.commitLsn().toString(), out);
        text(",\"commit_time\":", Timestamps.rfc3339(commit.commitTime()), out);
        number(",\"xid\":", Integer.toUnsignedLong(commit.xid().bits()), out);
        out.put('}');
    }

    private static void warning(StreamEvent.Warning warning, ByteSink out) {
        out.put('{');
        if (warning.sub() != null) {
            text("\"sub\":", warning.sub(), out);
            out.put(',');
        }
        text("\"code\":", warning.code().wireName(), out);
        text(",\"message\":", warning.message(), out);
        text(",\"effect\":", warning.effect(), out);
        text(",\"remedy\":", warning.remedy(), out);
        out.put('}');
    }

    private static void failure(StreamEvent.Failure failure, ByteSink out) {
        out.put('{');
        if (failure.sub() != null) {
            text("\"sub\":", failure.sub(), out);
            out.put(',');
        }
        error(failure.code(), failure.message(), out);
        text(",\"action\":", failure.action() == null ? null : failure.action().wireName(), out);
        number(",\"retry_after_ms\":", failure.retryAfterMillis(), out);
        out.put('}');
    }

    private static void error(ErrorCode code, String message, ByteSink out) {
        text("\"code\":", code.wireName(), out);
        text(",\"message\":", message, out);
        out.put(",\"retryable\":");
        out.put(code.retryable() ? "true" : "false");
    }

    /// A member, left out when it has no value.
    private static void text(String member, @Nullable String value, ByteSink out) {
        if (value != null) {
            out.put(member);
            JsonString.quote(value, out);
        }
    }

    private static void number(String member, @Nullable Long value, ByteSink out) {
        if (value != null) {
            out.put(member);
            out.putDecimal(value);
        }
    }
}
