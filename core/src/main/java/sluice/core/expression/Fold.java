package sluice.core.expression;

/// A part of an expression that no row touches, to be evaluated once by PostgreSQL under the caller.
///
/// @param sql a scalar SQL expression whose every name is schema-qualified; its answer is the text the server
///     prints for it
/// @param typeOid the expression's type
public record Fold(String sql, int typeOid) {}
