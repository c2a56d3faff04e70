/// The services around the product, played by small servers that a test directs: token issuer, key server, hooks.
@NullMarked
package sluice.testkit.http;

import org.jspecify.annotations.NullMarked;
