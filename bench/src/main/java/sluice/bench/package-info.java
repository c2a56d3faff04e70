/// Measures the product: micro benchmarks of single stages, and a load generator for the whole.
@NullMarked
package sluice.bench;

import org.jspecify.annotations.NullMarked;
