@NullMarked
package sluice.server.hook;

import org.jspecify.annotations.NullMarked;
