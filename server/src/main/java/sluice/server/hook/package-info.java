/// Asks the endpoints of hook namespaces who may join.
@NullMarked
package sluice.server.hook;

import org.jspecify.annotations.NullMarked;
