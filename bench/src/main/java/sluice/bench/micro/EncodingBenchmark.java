package sluice.bench.micro;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.event.Images;
import sluice.core.event.Transition;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.stream.FrameHead;
import sluice.core.stream.SubscriptionTag;
import sluice.core.transaction.Change;
import sluice.core.wal.Lsn;

/// A row of five columns to an event's bytes, which happens once a change, and the head that every delivery gets of
/// its own.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EncodingBenchmark {
    private final EventEncoder encoder = new EventEncoder(1024 * 1024);
    private final Projection projection = Samples.projection();
    private final Change change = new Change.Insert(Samples.DEFINITION, Samples.tuple());
    private final SubscriptionTag tag = SubscriptionTag.of("feed");
    private final byte[] frame = new byte[1024];
    private EventBody body = new EventBody(new byte[0], new byte[0]);
    private long seq;

    @Setup
    public void begin() {
        encoder.beginCommit(Lsn.parse("16/B374D848"), Instant.parse("2026-09-29T20:24:42.390000Z"));
        body = body();
    }

    @Benchmark
    public EventBody body() {
        encoder.beginChange(change, Samples.MAPPING);
        return encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD);
    }

    @Benchmark
    public int head() {
        seq++;
        return FrameHead.write(frame, 0, body, tag, seq);
    }
}
