/// Micro benchmarks of single stages, run with JMH by hand: see docs/performance.md.
@NullMarked
package sluice.bench.micro;

import org.jspecify.annotations.NullMarked;
