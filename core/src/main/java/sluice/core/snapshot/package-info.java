/// Rows that were there before a subscription: what was read of them, and where they wait for their client.
@NullMarked
package sluice.core.snapshot;

import org.jspecify.annotations.NullMarked;
