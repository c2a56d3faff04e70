@NullMarked
package sluice.server.snapshot;

import org.jspecify.annotations.NullMarked;
