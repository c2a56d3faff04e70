/// Every figure the server publishes, named once. Others call typed methods; no one else knows the metrics library.
@NullMarked
package sluice.server.metrics;

import org.jspecify.annotations.NullMarked;
