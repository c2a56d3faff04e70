package sluice.core.pgoutput;

/// The stream holds something that is no message of the protocol asked for.
///
/// Definite: reading the same bytes again changes nothing, and skipping them would be a silent gap. The text names
/// the message kind and the offset, never a value.
public final class DecodeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DecodeException(String kind, int offset, String fact) {
        super(kind + " message, offset " + offset + ": " + fact);
    }
}
