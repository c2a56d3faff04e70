package sluice.core.event;

/// Whether a change moved the row across the edge of a shape.
public enum Transition {
    /// The row stayed on its side, or the change is an insert or delete of the row itself.
    NONE,
    /// An update brought the row into the shape; the event's operation is INSERT.
    ENTER,
    /// An update took the row out of the shape; the event's operation is DELETE.
    LEAVE
}
