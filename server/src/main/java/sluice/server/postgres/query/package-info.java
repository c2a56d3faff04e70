/// Every question asked of PostgreSQL in SQL: the catalog, rights, folds, probes, and whether the database is fit.
///
/// Read only throughout. Callers run on virtual threads; each call is bounded by a timeout. An answer that may decide
/// anything carries the stamp of its snapshot. Nothing thrown here holds a claim, a row value or a password.
@NullMarked
package sluice.server.postgres.query;

import org.jspecify.annotations.NullMarked;
