package sluice.server.demo;

/// Why the demo cannot go on, in one line that a person can act on.
public final class DemoException extends Exception {
    private final String remedy;

    /// @param problem one short fact
    /// @param remedy what to do about it; may be empty
    public DemoException(String problem, String remedy) {
        super(problem);
        this.remedy = remedy;
    }

    public String remedy() {
        return remedy;
    }

    /// Problem and remedy on one line.
    public String line() {
        return remedy.isEmpty() ? getMessage() + "" : getMessage() + ": " + remedy;
    }
}
