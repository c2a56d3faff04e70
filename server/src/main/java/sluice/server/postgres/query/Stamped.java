package sluice.server.postgres.query;

import sluice.core.catalog.Stamp;

/// An answer and the moment it was true.
public record Stamped<T>(Stamp stamp, T value) {}
