/// Where the server is put together: the only package that makes services and starts threads besides `runtime`.
@NullMarked
package sluice.server.app;

import org.jspecify.annotations.NullMarked;
