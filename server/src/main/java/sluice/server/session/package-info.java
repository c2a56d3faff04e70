/// Which sessions are over, as every thread may ask.
@NullMarked
package sluice.server.session;

import org.jspecify.annotations.NullMarked;
