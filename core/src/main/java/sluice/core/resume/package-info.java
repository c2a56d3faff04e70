/// The recent commits, kept so that a client that comes back or falls behind misses nothing.
@NullMarked
package sluice.core.resume;

import org.jspecify.annotations.NullMarked;
