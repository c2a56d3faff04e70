/// Which subscriptions might care about a change. Answers by look-up; may name too many, never too few.
@NullMarked
package sluice.core.routing;

import org.jspecify.annotations.NullMarked;
