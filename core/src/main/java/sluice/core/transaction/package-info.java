/// Messages to whole commits. Takes decoded messages, gives one {@link sluice.core.transaction.Transaction} per
/// commit with net images; never cuts a commit.
@NullMarked
package sluice.core.transaction;

import org.jspecify.annotations.NullMarked;
