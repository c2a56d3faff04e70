package sluice.bench.micro;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;
import sluice.core.expression.EqualTexts;
import sluice.core.pgoutput.Tuple;
import sluice.core.routing.RoutingIndex;
import sluice.core.routing.RoutingKey;

/// The look-up of a change that concerns one of many subscriptions. Its cost must not follow their number.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RoutingBenchmark {
    /// How many there are, each filed under a room of its own.
    @Param({"1000", "10000", "100000"})
    public int subscriptions;

    private final RoutingIndex<Integer> index = new RoutingIndex<>();
    private final Tuple row = Samples.tuple();

    @Setup
    public void file() {
        for (int room = 0; room < subscriptions; room++) {
            index.add(
                    room,
                    new RoutingKey(Samples.ROOM, "room_id", List.of(Integer.toString(room)), EqualTexts.IDENTICAL));
        }
    }

    @Benchmark
    public int candidates(Blackhole sink) {
        return index.candidates(row, null, Samples.MAPPING, sink::consume);
    }
}
