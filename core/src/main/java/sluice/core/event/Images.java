package sluice.core.event;

/// Which of a change's row images an event shows. Each image needs its own yes (consistency rule 6).
public enum Images {
    /// The new tuple only.
    RECORD,
    /// The old tuple only.
    OLD,
    RECORD_AND_OLD,
    /// The key of the old tuple, of which nothing else could be decided.
    OLD_KEY;

    boolean showRecord() {
        return this == RECORD || this == RECORD_AND_OLD;
    }

    boolean showOld() {
        return this != RECORD;
    }
}
