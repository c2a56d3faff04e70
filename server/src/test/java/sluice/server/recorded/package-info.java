/// Recordings of a real database, made for the simulation.
@NullMarked
package sluice.server.recorded;

import org.jspecify.annotations.NullMarked;
