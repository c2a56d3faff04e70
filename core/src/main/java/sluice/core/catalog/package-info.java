/// What PostgreSQL's catalog said at one moment, immutable. Loaded by the server, read by every later stage; never
/// queried from here.
@NullMarked
package sluice.core.catalog;

import org.jspecify.annotations.NullMarked;
