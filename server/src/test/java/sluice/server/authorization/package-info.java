/// Rules decided in process, compared with what PostgreSQL decides under the same role and claims.
@NullMarked
package sluice.server.authorization;

import org.jspecify.annotations.NullMarked;
