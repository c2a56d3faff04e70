package sluice.core.expression;

/// A part is not decided in process; the message is the reason. Never leaves this package.
final class NotCompilable extends Exception {
    private static final long serialVersionUID = 1L;

    NotCompilable(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
