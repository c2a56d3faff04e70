/// PostgreSQL's values as Java values: read from the text of the log and from stored constants, printed and compared
/// as PostgreSQL does.
@NullMarked
package sluice.core.datum;

import org.jspecify.annotations.NullMarked;
