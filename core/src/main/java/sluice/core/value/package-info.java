/// PostgreSQL types and the rules by which their text becomes JSON. Takes bytes of the log, gives bytes of JSON;
/// never guesses a type.
@NullMarked
package sluice.core.value;

import org.jspecify.annotations.NullMarked;
