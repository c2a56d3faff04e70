package sluice.core.shape;

/// What a change event says happened to the row.
public enum Operation {
    INSERT,
    UPDATE,
    DELETE,
    TRUNCATE
}
