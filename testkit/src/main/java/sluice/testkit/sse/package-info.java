/// A client of event streams that trusts nothing: its own parser, its own sockets, and the order of arrival kept.
@NullMarked
package sluice.testkit.sse;

import org.jspecify.annotations.NullMarked;
