/// What is wrong or slow about a database and what is subscribed to, with the SQL that helps. Pure, and the same for
/// a running server and for a look from the command line; decides nothing about rows.
@NullMarked
package sluice.core.diagnostics;

import org.jspecify.annotations.NullMarked;
