/// What tests stand on: real PostgreSQL clusters, an SSE client, a token issuer, a cutting proxy, seeded generators.
///
/// Depends on none of our own code, so that a test never judges the product with the product's own opinion.
@NullMarked
package sluice.testkit;

import org.jspecify.annotations.NullMarked;
