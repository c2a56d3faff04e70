package sluice.core.error;

/// Every warning a client can meet, with its wire name. Documented one by one in docs/errors.md.
public enum WarningCode {
    /// Some requested columns are not in the role's grants and left out.
    COLUMNS_NOT_GRANTED("columns_not_granted"),
    /// Some columns that were asked for by name are not in the publication and left out.
    COLUMNS_NOT_PUBLISHED("columns_not_published"),
    /// No `eq` or `in` that every row of the shape fulfils, so every change of the table is looked at for it.
    UNINDEXED_SHAPE("unindexed_shape"),
    /// Deletes or leaving rows are withheld because the replica identity lacks a column the decision needs.
    REPLICA_IDENTITY_INSUFFICIENT("replica_identity_insufficient"),
    /// The replica identity is FULL, so each old row is written whole to the log, long values included.
    REPLICA_IDENTITY_FULL_WITH_TOAST("replica_identity_full_with_toast"),
    /// The table has no replica identity that works: PostgreSQL refuses the application's own updates and deletes.
    REPLICA_IDENTITY_BROKEN("replica_identity_broken"),
    /// Rows can stop being visible without anything in the log that tells.
    LEAVES_NOT_DETECTED("leaves_not_detected"),
    /// The subscription asked for its rows first, which this server does not read.
    SNAPSHOT_DISABLED("snapshot_disabled"),
    /// The columns that the subscription shows, or may show, are other ones now.
    SCHEMA_CHANGED("schema_changed"),
    /// The table was truncated and the subscription did not ask to be told by an event.
    TABLE_TRUNCATED("table_truncated"),
    /// Changes that might concern the subscription could not be decided and were not sent.
    CHANGES_WITHHELD("changes_withheld"),
    /// PostgreSQL decided a row otherwise than this server did: it decides every row of the shape from here on.
    TIER_DOWNGRADED("tier_downgraded");

    private final String wireName;

    WarningCode(String wireName) {
        this.wireName = wireName;
    }

    public String wireName() {
        return wireName;
    }
}
