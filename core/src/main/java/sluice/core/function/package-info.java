/// PostgreSQL's own functions and operators that are evaluated in process, by family.
@NullMarked
package sluice.core.function;

import org.jspecify.annotations.NullMarked;
