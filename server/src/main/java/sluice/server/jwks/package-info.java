/// Who a bearer token speaks for. Takes the token's text, gives an identity or a reason to refuse; never guesses, and
/// never lets a token, a claim or a key reach a log.
@NullMarked
package sluice.server.jwks;

import org.jspecify.annotations.NullMarked;
