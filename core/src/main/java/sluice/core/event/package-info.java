/// From decided changes to bytes of Server-Sent Events, each distinct body written once.
@NullMarked
package sluice.core.event;

import org.jspecify.annotations.NullMarked;
