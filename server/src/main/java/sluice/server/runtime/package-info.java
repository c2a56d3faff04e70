/// The engine's thread and everything that crosses it: the inbox of the log, the commands, the effects carried out on
/// virtual threads. The only package besides `app` that starts threads.
@NullMarked
package sluice.server.runtime;

import org.jspecify.annotations.NullMarked;
