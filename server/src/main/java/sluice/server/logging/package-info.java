/// Log lines: their form, and the ones requests and streams cause. A line never holds a token, a claim, a payload
/// or a row value; what a client chose is cut to 256 bytes.
@NullMarked
package sluice.server.logging;

import org.jspecify.annotations.NullMarked;
