/// Who is behind a stream: the verified caller and, later, what revokes it.
@NullMarked
package sluice.core.session;

import org.jspecify.annotations.NullMarked;
