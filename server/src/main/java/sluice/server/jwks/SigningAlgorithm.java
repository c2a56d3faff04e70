package sluice.server.jwks;

/// The one algorithm a deployment accepts (`SLUICE_JWT_ALG`). A token that names another is
/// refused, whatever keys exist.
public enum SigningAlgorithm {
    ES256,
    RS256
}
