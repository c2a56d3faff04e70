/// The load client: a process of its own that opens streams, and judges what each of them receives. It uses nothing
/// but the JDK and a histogram, so that it takes little of the machine it shares with the server.
@NullMarked
package sluice.bench.client;

import org.jspecify.annotations.NullMarked;
