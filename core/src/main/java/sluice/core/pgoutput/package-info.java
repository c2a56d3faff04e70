/// Bytes of the replication stream to messages. Takes frames, gives messages whose tuples point into the frame; never
/// looks at the catalog.
@NullMarked
package sluice.core.pgoutput;

import org.jspecify.annotations.NullMarked;
