package sluice.core.expression;

/// The text is not a node tree this reader understands, or nests deeper than it follows.
///
/// Whatever it described is not compilable; it is never taken as an empty or a partial tree.
public final class NodeTreeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NodeTreeException(String message) {
        super(message, null, false, false);
    }

    /// @return the message, never null
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
