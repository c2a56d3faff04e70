package sluice.core.event;

import sluice.core.shape.Operation;

/// The forms in which a decided change can be sent.
public enum Delivery {
    INSERT(Operation.INSERT, Transition.NONE, Images.RECORD),
    /// An update brought the row into the shape.
    ENTER(Operation.INSERT, Transition.ENTER, Images.RECORD),
    UPDATE(Operation.UPDATE, Transition.NONE, Images.RECORD),
    UPDATE_WITH_OLD(Operation.UPDATE, Transition.NONE, Images.RECORD_AND_OLD),
    DELETE(Operation.DELETE, Transition.NONE, Images.OLD),
    /// A delete of which it could not be decided whether the row was in the shape.
    DEGRADED_DELETE(Operation.DELETE, Transition.NONE, Images.OLD_KEY),
    /// An update took the row out of the shape, and what it is now is not for this caller.
    LEAVE(Operation.DELETE, Transition.LEAVE, Images.OLD),
    /// An update took the row out of the filter; the policy still shows what it is now.
    LEAVE_WITH_RECORD(Operation.DELETE, Transition.LEAVE, Images.RECORD_AND_OLD),
    /// The table was emptied; no image is shown.
    TRUNCATE(Operation.TRUNCATE, Transition.NONE, Images.RECORD);

    private final Operation operation;
    private final Transition transition;
    private final Images images;

    Delivery(Operation operation, Transition transition, Images images) {
        this.operation = operation;
        this.transition = transition;
        this.images = images;
    }

    public Operation operation() {
        return operation;
    }

    public Transition transition() {
        return transition;
    }

    public Images images() {
        return images;
    }
}
