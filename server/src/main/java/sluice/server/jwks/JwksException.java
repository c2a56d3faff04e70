package sluice.server.jwks;

/// The key set could not be fetched or holds nothing usable. The message names the reason, never a key.
public final class JwksException extends Exception {
    private static final long serialVersionUID = 1L;

    public JwksException(String message) {
        super(message);
    }
}
