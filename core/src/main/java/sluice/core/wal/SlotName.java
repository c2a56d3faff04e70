package sluice.core.wal;

/// The name of a replication slot: 1 to 63 lower-case letters, digits and underscores, as PostgreSQL demands.
///
/// @param text the name
public record SlotName(String text) {
    public SlotName {
        if (!text.matches("[a-z0-9_]{1,63}")) {
            throw new IllegalArgumentException(
                    "slot name \"" + text + "\" may only hold lower-case letters, digits and underscores, at most 63");
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
