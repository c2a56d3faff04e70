package sluice.core.transaction;

/// A message of `pg_logical_emit_message`, in its transaction or on its own.
public record LogicalMessage(String prefix, byte[] content) {}
