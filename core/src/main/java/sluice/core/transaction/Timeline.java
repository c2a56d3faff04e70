package sluice.core.transaction;

/// Takes all touches of one key in order and reports what remains of them.
interface Timeline {
    void apply(Touch touch);

    void finish();
}
