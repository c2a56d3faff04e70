package sluice.bench;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
import sluice.core.catalog.Column;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.event.EventBody;
import sluice.core.event.EventEncoder;
import sluice.core.event.Images;
import sluice.core.event.Transition;
import sluice.core.expression.ColumnMapping;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.pgoutput.Tuple;
import sluice.core.shape.Operation;
import sluice.core.shape.Projection;
import sluice.core.stream.FrameHead;
import sluice.core.stream.SubscriptionTag;
import sluice.core.transaction.Change;
import sluice.core.value.ByteSink;
import sluice.core.value.JsonWriter;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;

/// What it costs to write a row of five columns: the values alone, the whole body, and one delivery's head.
///
/// `-prof gc` shows the garbage: none for values and head; the body allocates itself.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class RowEncodingBench {
    @Param({"ascii", "utf8", "escapes", "json"})
    public String content = "ascii";

    private static final List<Integer> TYPES = List.of(Oid.INT8, Oid.UUID, Oid.TEXT, Oid.TIMESTAMPTZ, Oid.BOOL);
    private static final List<String> NAMES = List.of("id", "owner_id", "title", "updated_at", "done");

    private final ByteSink sink = new ByteSink(4096);
    private final JsonWriter writer = new JsonWriter(sink);
    private final EventEncoder encoder = new EventEncoder(1 << 20);
    private final SubscriptionTag tag = SubscriptionTag.of("notes");

    private Projection projection = new Projection(List.of());
    private Tuple tuple = new Tuple(new byte[0], new Tuple.Kind[0], new int[0], new int[0]);
    private ColumnMapping mapping = ColumnMapping.of(definition(TYPES), relation(TYPES));
    private Change change = new Change.Truncate(definition(TYPES));
    private EventBody body = new EventBody(new byte[0], new byte[0]);
    private long seq;

    @Setup
    public void prepare() {
        String title =
                switch (content) {
                    case "ascii" -> "Quarterly plan, second draft";
                    case "utf8" -> "Plan für das zweite Quartal, été";
                    case "escapes" -> "a \"quoted\"\tplan\nwith \\ lines";
                    case "json" -> "{\"k\": [1, 2.50, \"x\"], \"ok\": true}";
                    default -> throw new IllegalArgumentException(content);
                };
        List<Integer> types = content.equals("json")
                ? List.of(Oid.INT8, Oid.UUID, Oid.JSONB, Oid.TIMESTAMPTZ, Oid.BOOL)
                : TYPES;
        projection = new Projection(entries(types));
        mapping = ColumnMapping.of(definition(types), relation(types));
        tuple = tuple(List.of(
                "9007199254740993",
                "6f2c1e0a-8f0e-4a51-9f3c-0d7a55b1c001",
                title,
                "2026-09-29 20:24:42.390142+00",
                "t"));
        change = new Change.Insert(definition(types), tuple);
        encoder.beginCommit(Lsn.parse("16/B374D848"), Instant.parse("2026-09-29T20:24:42.39Z"));
        encoder.beginChange(change, mapping);
        body = encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD);
    }

    @Benchmark
    public int values() {
        sink.truncate(0);
        for (int i = 0; i < projection.size(); i++) {
            sink.put(i == 0 ? '{' : ',');
            projection.writeName(i, sink);
            sink.put(':');
            writer.write(projection.entry(i).type(), tuple.bytes(), tuple.offset(i), tuple.length(i));
        }
        sink.put('}');
        return sink.length();
    }

    @Benchmark
    public EventBody body() {
        encoder.beginChange(change, mapping);
        return encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD);
    }

    @Benchmark
    public EventBody bodyAskedForAgain() {
        return encoder.body(Operation.INSERT, Transition.NONE, projection, Images.RECORD);
    }

    @Benchmark
    public int head() {
        sink.truncate(0);
        FrameHead.append(sink, body, tag, ++seq);
        return sink.length();
    }

    private static List<Projection.Entry> entries(List<Integer> types) {
        return IntStream.range(0, types.size())
                .mapToObj(i -> new Projection.Entry(
                        i + 1,
                        NAMES.get(i),
                        new PgType.Base(types.get(i), "type"),
                        i == 0 ? Projection.Part.KEY : Projection.Part.OTHER))
                .toList();
    }

    private static RelationDefinition definition(List<Integer> types) {
        return new RelationDefinition(
                16_400,
                "public",
                "notes",
                'd',
                IntStream.range(0, types.size())
                        .mapToObj(i -> new RelationDefinition.Column(NAMES.get(i), types.get(i), -1, i == 0))
                        .toList());
    }

    private static Relation relation(List<Integer> types) {
        List<Column> columns = IntStream.range(0, types.size())
                .mapToObj(i -> new Column(
                        i + 1,
                        NAMES.get(i),
                        types.get(i),
                        -1,
                        Column.Nullability.NOT_NULL,
                        Column.Generation.NONE,
                        0))
                .toList();
        return new Relation(
                16_400,
                "public",
                "notes",
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.ON,
                new ReplicaIdentity.Default(List.of(1)),
                columns,
                List.of(),
                List.of(),
                Map.of(),
                null,
                "",
                "");
    }

    private static Tuple tuple(List<String> values) {
        byte[] bytes = String.join("", values).getBytes(StandardCharsets.UTF_8);
        var kinds = new Tuple.Kind[values.size()];
        var offsets = new int[values.size()];
        var lengths = new int[values.size()];
        int at = 0;
        for (int i = 0; i < values.size(); i++) {
            kinds[i] = Tuple.Kind.TEXT;
            offsets[i] = at;
            lengths[i] = values.get(i).getBytes(StandardCharsets.UTF_8).length;
            at += lengths[i];
        }
        return new Tuple(bytes, kinds, offsets, lengths);
    }
}
