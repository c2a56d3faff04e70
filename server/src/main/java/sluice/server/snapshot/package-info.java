/// Initial snapshots: rows read, encoded and kept until their clients take them.
@NullMarked
package sluice.server.snapshot;

import org.jspecify.annotations.NullMarked;
