/// What can go wrong, named once: wire codes, their HTTP status and whether a retry may help.
@NullMarked
package sluice.core.error;

import org.jspecify.annotations.NullMarked;
