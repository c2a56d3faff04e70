package sluice.bench.micro;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import sluice.core.datum.ValueType;
import sluice.core.datum.ValueTypes;
import sluice.core.expression.Compiler;
import sluice.core.expression.Expression;
import sluice.core.expression.Predicate;
import sluice.core.expression.RowImage;
import sluice.core.function.ComparisonKind;
import sluice.core.value.Truth;

/// A policy decided in process: `visibility = 'friends' OR author_id = <the caller>`, once TRUE by its second part,
/// once FALSE after both.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PredicateBenchmark {
    private final RowImage row = Samples.image();
    private final Predicate author = policy(Samples.ROW.get(Samples.AUTHOR - 1));
    private final Predicate stranger = policy("5eed0000-0000-4000-8000-00000000b0b0");

    private static Predicate policy(String caller) {
        return Compiler.compile(new Expression.Or(List.of(
                equal(Samples.VISIBILITY, ValueTypes.TEXT, "friends"),
                equal(Samples.AUTHOR, ValueTypes.UUID, caller))));
    }

    private static Expression equal(int attnum, ValueType<?> type, String constant) {
        return new Expression.Comparison(
                ComparisonKind.EQUAL,
                new Expression.ColumnValue(attnum, type),
                new Expression.Constant(type, constant));
    }

    @Benchmark
    public Truth visible() {
        return author.test(row);
    }

    @Benchmark
    public Truth hidden() {
        return stranger.test(row);
    }
}
