package sluice.core.snapshot;

/// The rows of one snapshot, read and encoded, waiting until their client takes them.
///
/// A handle: the engine never reads it, it asks for the next rows and says when it is done with them. Rows are taken
/// once, in order. What holds them is bounded where they are kept.
public interface SnapshotSpool {}
