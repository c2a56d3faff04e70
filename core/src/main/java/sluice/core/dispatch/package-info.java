/// The engine: one writer that takes inputs and gives effects. Reads no clock, starts no thread, waits for nothing.
@NullMarked
package sluice.core.dispatch;

import org.jspecify.annotations.NullMarked;
