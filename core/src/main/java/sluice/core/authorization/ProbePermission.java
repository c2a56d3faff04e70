package sluice.core.authorization;

/// `SLUICE_TIER_C`: whether a rule may cost a query per change.
public enum ProbePermission {
    ALLOW,
    DENY
}
