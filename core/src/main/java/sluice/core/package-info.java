/// Every decision, as a pipeline of packages: each knows what lies upstream of it and never who consumes it.
///
/// Takes inputs, returns effects. Reads no clock, draws no random number, opens no socket or file, starts no thread.
@NullMarked
package sluice.core;

import org.jspecify.annotations.NullMarked;
