package sluice.core.datum;

/// A stored constant has a form that is not known. Says nothing of its value.
public final class DatumFormatException extends Exception {
    private static final long serialVersionUID = 1L;

    public DatumFormatException(String message) {
        super(message);
    }
}
