/// A client's stream as the engine knows it, and the reasons for which it closes.
@NullMarked
package sluice.core.stream;

import org.jspecify.annotations.NullMarked;
