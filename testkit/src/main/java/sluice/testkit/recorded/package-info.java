/// What a real database did once, kept so that it can be done again without one.
@NullMarked
package sluice.testkit.recorded;

import org.jspecify.annotations.NullMarked;
