/// PostgreSQL judges what is decided in process: random expressions over every type, function and operator its
/// catalog lists, random constants, random security. Seeded; nothing here knows which functions are registered.
@NullMarked
package sluice.server.judge;

import org.jspecify.annotations.NullMarked;
