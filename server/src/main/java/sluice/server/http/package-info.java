/// HTTP in and Server-Sent Events out, on Netty's event loops.
///
/// Takes requests, gives each a short JSON answer or turns its connection into a stream; takes frames from the
/// engine, one batch a shard and commit, and writes them as fast as the client reads. Never waits on an event loop,
/// never keeps a thread, a timer or a codec for a quiet stream, never writes part of a commit that does not fit.
@NullMarked
package sluice.server.http;

import org.jspecify.annotations.NullMarked;
