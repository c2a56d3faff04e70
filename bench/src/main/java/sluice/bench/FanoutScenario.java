package sluice.bench;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One change at a time, or one broadcast, to many streams, each of which must receive it.
///
/// Every stream has a user of its own, and a policy that is decided for each of them, in process or by a query, or
/// has joined a public channel. A window without events comes first: what the server uses then is told apart, and
/// not taken off the figures.
final class FanoutScenario {
    static final Plan FULL = new Plan(5, 100, 200);
    static final Plan QUICK = new Plan(3, 30, 60);

    private static final int CHANGES_PER_SECOND = 10;
    private static final int WARM_UP_PER_SECOND = 40;
    private static final List<String> FAULTS =
            List.of("lost", "duplicated", "out_of_order", "seq_broken", "unexpected", "gone", "failures");

    private final TestBed bed;
    private final Kind kind;
    private final int streams;
    private final Plan plan;

    /// What every stream receives.
    enum Kind {
        CHANGES("fanout"),
        /// Changes that PostgreSQL decides for each stream.
        PROBES("probes"),
        BROADCASTS("broadcast");

        private final String scenario;

        Kind(String scenario) {
            this.scenario = scenario;
        }

        private String request() {
            return switch (this) {
                case CHANGES -> Tables.roomRequest(Tables.FEED);
                case PROBES -> Tables.roomRequest(Tables.ASKED);
                case BROADCASTS -> Tables.channelRequest();
            };
        }

        private PacedSource source(TestBed bed, ServerProcess server) throws BenchException, InterruptedException {
            return switch (this) {
                case CHANGES -> new PacedWriter(bed.connect(), Tables.FEED);
                case PROBES -> new PacedWriter(bed.connect(), Tables.ASKED);
                case BROADCASTS -> new PacedPublisher(server.port(), bed.token(0));
            };
        }
    }

    /// How long it takes.
    record Plan(int rounds, int changes, int warmUpChanges) {}

    FanoutScenario(TestBed bed, Kind kind, int streams, Plan plan) {
        this.bed = bed;
        this.kind = kind;
        this.streams = streams;
        this.plan = plan;
    }

    /// A round's figures, one place each round.
    private static final class Rounds {
        final double[] cpu;
        final double[] clientCpu;
        final double[] allocated;
        final double[] p50;
        final double[] p99;
        final double[] callP50;
        final double[] callP99;
        final double[] framesPerRead;
        long events;
        Map<String, Double> last = Map.of();

        Rounds(int count) {
            cpu = new double[count];
            clientCpu = new double[count];
            allocated = new double[count];
            p50 = new double[count];
            p99 = new double[count];
            callP50 = new double[count];
            callP99 = new double[count];
            framesPerRead = new double[count];
        }
    }

    Figures run() throws IOException, InterruptedException, BenchException {
        Rounds rounds = new Rounds(plan.rounds);
        ServerProbe.Reading idle;
        double idleSeconds = (double) plan.changes / CHANGES_PER_SECOND;
        try (ServerProcess server = bed.startServer();
                ServerProbe probe = ServerProbe.attach(server.pid());
                ClientProcess client = bed.startClient(server, streams, user -> kind.request());
                PacedSource source = kind.source(bed, server)) {
            bed.progress(kind.scenario + ": warming up");
            source.give(plan.warmUpChanges, WARM_UP_PER_SECOND);
            client.report(source.given());
            ServerProbe.Reading before = probe.read();
            Thread.sleep(Math.round(idleSeconds * 1_000));
            idle = probe.read().since(before);
            for (int round = 0; round < plan.rounds; round++) {
                bed.progress(kind.scenario + ": round " + (round + 1) + " of " + plan.rounds);
                round(rounds, round, new Parties(probe, source, client));
            }
        }
        return figures(rounds, idle, idleSeconds);
    }

    /// Who takes part in a round.
    private record Parties(ServerProbe probe, PacedSource source, ClientProcess client) {}

    private void round(Rounds rounds, int round, Parties parties)
            throws IOException, InterruptedException, BenchException {
        ClientProcess client = parties.client;
        client.startWindow();
        long clientBefore = client.cpu().toNanos();
        ServerProbe.Reading before = parties.probe.read();
        parties.source.give(plan.changes, CHANGES_PER_SECOND);
        Map<String, Double> report = client.report(parties.source.given());
        ServerProbe.Reading used = parties.probe.read().since(before);
        double deliveries = Math.max(1, value(report, "events"));
        rounds.cpu[round] = used.cpuNanos() / 1_000.0 / deliveries;
        rounds.clientCpu[round] = (client.cpu().toNanos() - clientBefore) / 1_000.0 / deliveries;
        rounds.allocated[round] = used.allocatedBytes() / deliveries;
        rounds.p50[round] = value(report, "commit_p50") / 1_000;
        rounds.p99[round] = value(report, "commit_p99") / 1_000;
        rounds.callP50[round] = value(report, "call_p50") / 1_000;
        rounds.callP99[round] = value(report, "call_p99") / 1_000;
        rounds.framesPerRead[round] = value(report, "frames_per_read");
        rounds.events += Math.round(value(report, "events"));
        rounds.last = report;
    }

    private Figures figures(Rounds rounds, ServerProbe.Reading idle, double idleSeconds) {
        Map<String, @Nullable Object> values = Figures.blank();
        put(values, Figures.CPU, rounds.cpu);
        put(values, Figures.ALLOCATED, rounds.allocated);
        put(values, Figures.P50, rounds.p50);
        put(values, Figures.P99, rounds.p99);
        put(values, "call_p50_ms", rounds.callP50);
        put(values, "call_p99_ms", rounds.callP99);
        put(values, "frames_per_read", rounds.framesPerRead);
        put(values, "client_cpu_us_per_delivery", rounds.clientCpu);
        values.put("bytes_per_event", Math.round(value(rounds.last, "bytes_per_event")));
        values.put("idle_cpu_us_per_second", Median.round(idle.cpuNanos() / 1_000.0 / idleSeconds));
        values.put("idle_bytes_allocated_per_second", Math.round(idle.allocatedBytes() / idleSeconds));
        values.put("n", streams);
        values.put("changes_per_second", CHANGES_PER_SECOND);
        values.put("rounds", plan.rounds);
        values.put("events", rounds.events);
        for (String fault : FAULTS) {
            values.put(fault, Math.round(value(rounds.last, fault)));
        }
        return new Figures(kind.scenario, values, "", faults(rounds.last));
    }

    private static void put(Map<String, @Nullable Object> values, String name, double[] measured) {
        Median median = Median.of(measured);
        values.put(name, median.rounded());
        values.put(name + Figures.SPREAD, median.spread());
    }

    private static double value(Map<String, Double> report, String name) {
        return report.getOrDefault(name, 0.0);
    }

    /// All that makes a run a bad one. They count from the first event, so the last report has all.
    static long faults(Map<String, Double> report) {
        return FAULTS.stream()
                .mapToLong(fault -> Math.round(value(report, fault)))
                .sum();
    }
}
