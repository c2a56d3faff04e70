/// Statements a person asked for, run as a role with claims or as the owner. Only the demo and its tools use it.
@NullMarked
package sluice.server.postgres.console;

import org.jspecify.annotations.NullMarked;
