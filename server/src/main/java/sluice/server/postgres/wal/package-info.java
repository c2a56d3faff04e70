/// The way in: one connection that streams the slot, its lock and its slot, and the folder for commits that do not
/// fit in memory. Hands over whole commits in the order of the log; never confirms what was not dispatched.
@NullMarked
package sluice.server.postgres.wal;

import org.jspecify.annotations.NullMarked;
