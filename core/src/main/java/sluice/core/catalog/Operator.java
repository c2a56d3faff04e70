package sluice.core.catalog;

/// One row of `pg_operator`.
///
/// @param functionOid `oprcode`
/// @param leftType 0 for a prefix operator
public record Operator(
        int oid, String schema, String name, int leftType, int rightType, int resultType, int functionOid) {}
