/// What a client asks for and what was made of it: shapes, filters, projections, subscriptions.
@NullMarked
package sluice.core.shape;

import org.jspecify.annotations.NullMarked;
