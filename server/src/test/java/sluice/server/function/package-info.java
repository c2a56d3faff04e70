/// The built-in functions and types, compared with PostgreSQL one call at a time.
@NullMarked
package sluice.server.function;

import org.jspecify.annotations.NullMarked;
