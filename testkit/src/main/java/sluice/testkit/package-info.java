/// What tests stand on: real PostgreSQL clusters, an SSE client, a token issuer, a cutting proxy, seeded generators.
///
/// Depends on none of our own code, so that a test never judges the product with the product's own opinion.
///
///     PostgresDatabase database = PostgresCluster.of(18).createDatabase("notes").withStandardRoles();
///     database.execute("CREATE TABLE notes (id int PRIMARY KEY, owner uuid)");
///     database.rows("SELECT id FROM notes");                                       // as superuser, as text
///     database.asRole("authenticated", claims.json()).rows("SELECT id FROM notes"); // the judge of visibility
///
/// Servers are in [sluice.testkit.postgres], event streams in [sluice.testkit.sse], tokens and stub servers in
/// [sluice.testkit.http], chance in [sluice.testkit.seed], the build's rules in [sluice.testkit.rules].
@NullMarked
package sluice.testkit;

import org.jspecify.annotations.NullMarked;
