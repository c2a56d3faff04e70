package sluice.server.postgres.query;

import sluice.core.value.Truth;

/// What PostgreSQL said of one row image. Only `Decided(TRUE)` makes a row visible.
public sealed interface ProbeAnswer {
    /// @param truth TRUE, FALSE or NULL
    record Decided(Truth truth) implements ProbeAnswer {}

    /// The rule raised, needed a column the image does not carry, or ran out of time (`57014`).
    record Raised(String sqlState) implements ProbeAnswer {}
}
