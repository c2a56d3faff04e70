/// The whole server, and the rules its packages keep.
@NullMarked
package sluice.server;

import org.jspecify.annotations.NullMarked;
