package sluice.server.app;

/// The server cannot start; the message says why and what to do, one problem a paragraph.
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    public StartException(String message) {
        super(message);
    }

    public StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
