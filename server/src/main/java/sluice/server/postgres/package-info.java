/// What both sides of the database connection share: where PostgreSQL is and how a session is set up.
@NullMarked
package sluice.server.postgres;

import org.jspecify.annotations.NullMarked;
