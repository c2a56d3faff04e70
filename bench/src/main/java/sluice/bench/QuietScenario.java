package sluice.bench;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Streams that receive nothing: what each of them holds in the server's heap.
///
/// A round is: live heap of the server without streams, open the streams, live heap with them, close them. Each
/// stream has a user of its own and a filter of its own on every shape, so nothing is shared that would not be in
/// practice.
final class QuietScenario {
    private static final int WARM_UP_STREAMS = 200;
    private static final long SETTLE_MILLIS = 2_000;
    private static final int CLASSES_SHOWN = 16;

    private final TestBed bed;
    private final int streams;
    private final int rounds;

    QuietScenario(TestBed bed, int streams, int rounds) {
        this.bed = bed;
        this.streams = streams;
        this.rounds = rounds;
    }

    /// One round's differences, for each stream.
    ///
    /// @param withoutBytes live heap of the whole server before
    private record Round(
            double heapBytes, long withoutBytes, double residentBytes, long openedMillis, long faults, String growth) {}

    /// @param shapes of each stream
    Figures run(int shapes) throws IOException, InterruptedException, BenchException {
        double[] heap = new double[rounds];
        double[] resident = new double[rounds];
        double[] opened = new double[rounds];
        long[] without = new long[rounds];
        long faults = 0;
        String growth = "";
        try (ServerProcess server = bed.startServer();
                ServerProbe probe = ServerProbe.attach(server.pid())) {
            // Classes, pools and caches that the first streams bring belong to no stream.
            bed.startClient(server, Math.min(streams, WARM_UP_STREAMS), user -> Tables.ownedRequest(user, shapes))
                    .close();
            for (int i = 0; i < rounds; i++) {
                bed.progress("quiet, " + shapes + " shapes: round " + (i + 1) + " of " + rounds);
                Round round = round(server, probe, shapes);
                heap[i] = round.heapBytes;
                resident[i] = round.residentBytes;
                opened[i] = round.openedMillis;
                without[i] = round.withoutBytes;
                faults += round.faults;
                growth = round.growth;
            }
        }
        Median median = Median.of(heap);
        Map<String, @Nullable Object> values = Figures.blank();
        values.put(Figures.HEAP, Math.round(median.value()));
        values.put(Figures.HEAP + Figures.SPREAD, median.spread());
        values.put("resident_bytes_per_stream", Math.round(Median.of(resident).value()));
        values.put("n", streams);
        values.put("shapes", shapes);
        values.put("rounds", rounds);
        values.put("opening_ms", Math.round(Median.of(opened).value()));
        values.put(
                "streams_per_second_opened",
                Math.round(streams * 1_000.0 / Median.of(opened).value()));
        // Closed streams leave nothing, or the last round would begin with more than the first.
        values.put("live_heap_bytes_before_first_round", without[0]);
        values.put("live_heap_bytes_before_last_round", without[rounds - 1]);
        values.put("faults", faults);
        return new Figures(
                shapes == 1 ? "quiet" : "quiet-" + shapes, values, "heap for each stream by class:\n" + growth, faults);
    }

    private Round round(ServerProcess server, ServerProbe probe, int shapes)
            throws IOException, InterruptedException, BenchException {
        server.awaitStreams(0);
        Thread.sleep(SETTLE_MILLIS);
        Histogram before = probe.liveHeap();
        long residentBefore = probe.residentBytes();
        try (ClientProcess client = bed.startClient(server, streams, user -> Tables.ownedRequest(user, shapes))) {
            server.awaitStreams(streams);
            Thread.sleep(SETTLE_MILLIS);
            Histogram with = probe.liveHeap();
            long residentWith = probe.residentBytes();
            Map<String, Double> report = client.report(0);
            return new Round(
                    (double) (with.totalBytes() - before.totalBytes()) / streams,
                    before.totalBytes(),
                    (double) (residentWith - residentBefore) / streams,
                    client.openedMillis(),
                    FanoutScenario.faults(report)
                            + report.getOrDefault("events", 0.0).longValue(),
                    with.growth(before, streams, CLASSES_SHOWN));
        }
    }
}
