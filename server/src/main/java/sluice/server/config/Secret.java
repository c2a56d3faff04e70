package sluice.server.config;

/// A text that never prints, such as a URL with a password in it.
public final class Secret {
    private final String text;

    public Secret(String text) {
        this.text = text;
    }

    /// The text itself, for the one place that uses it.
    public String reveal() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret && secret.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
