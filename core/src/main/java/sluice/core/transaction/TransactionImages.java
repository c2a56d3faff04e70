package sluice.core.transaction;

/// `SLUICE_TRANSACTION_IMAGES`: what is kept of a commit besides its net images.
public enum TransactionImages {
    /// Nothing.
    NET,
    /// Each image in the order of the log, for roles that bypass row-level security.
    ALL
}
