/// Chance under a seed: the same seed gives the same run, on every machine and JDK.
@NullMarked
package sluice.testkit.seed;

import org.jspecify.annotations.NullMarked;
