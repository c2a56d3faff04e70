/// Runs a PostgreSQL server from binaries: unpack, choose an account, `initdb`, start, watch, remove.
///
/// Knows nothing of tests. [sluice.testkit.PostgresCluster] is what tests use.
@NullMarked
package sluice.testkit.postgres;

import org.jspecify.annotations.NullMarked;
