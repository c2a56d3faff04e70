package sluice.server.jwks;

/// Where the key set comes from. May block for its own, bounded time; never called on an event loop.
public interface JwksSource {
    /// The body of a JSON Web Key Set.
    ///
    /// @throws JwksException saying why there is none
    byte[] fetch() throws JwksException;
}
