package sluice.server.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import java.util.Locale;
import sluice.core.dispatch.ControlRequest;
import sluice.core.dispatch.EngineMetrics.BroadcastOrigin;
import sluice.core.dispatch.EngineMetrics.HookRecheck;
import sluice.core.event.PassingEvent;

/// Figures about broadcasts, presence and hooks. Labels are words of this server and declared namespaces, never
/// what a client chose. Thread-safe.
public final class ChannelMetrics {
    private final Counter broadcasts;
    private final Counter presence;
    private final Counter dropped;
    private final Counter rechecks;

    ChannelMetrics(Figures figures) {
        broadcasts = figures.counter(
                "sluice_broadcast_published_total",
                "Broadcasts taken in, whoever received them.",
                "namespace",
                "origin");
        presence = figures.counter(
                "sluice_presence_updates_total", "Presence requests carried out.", "namespace", "action");
        dropped = figures.counter(
                "sluice_stream_dropped_events_total",
                "Events a stream did not receive because its queue was full.",
                "kind");
        rechecks =
                figures.counter("sluice_channel_hook_rechecks_total", "Joins that were asked about again.", "result");
    }

    public void broadcast(String namespace, BroadcastOrigin origin) {
        broadcasts.labelValues(namespace, word(origin)).inc();
    }

    public void presenceUpdated(String namespace, ControlRequest.Presence.Action action) {
        presence.labelValues(namespace, word(action)).inc();
    }

    public void dropped(PassingEvent.Kind kind) {
        dropped.labelValues(kind.wireName()).inc();
    }

    public void hookRechecked(HookRecheck result, int joins) {
        rechecks.labelValues(word(result)).inc(joins);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
