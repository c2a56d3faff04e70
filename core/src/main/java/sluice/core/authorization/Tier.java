package sluice.core.authorization;

/// How a rule is decided; the letter is what the wire says.
public enum Tier {
    /// A constant: no row column is left once the shape's own equalities are put in.
    A,
    /// The row's own columns, in process.
    B,
    /// One query per change under the caller's role.
    C
}
