package sluice.server.demo;

/// Told of each step that takes long enough to be noticed.
@FunctionalInterface
public interface Progress {
    /// @param step what begins now, such as `starting PostgreSQL 18`
    void step(String step);
}
