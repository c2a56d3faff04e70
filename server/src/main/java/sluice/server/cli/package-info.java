/// The command line: reads arguments, prints answers, and leaves all work to the packages it calls.
@NullMarked
package sluice.server.cli;

import org.jspecify.annotations.NullMarked;
