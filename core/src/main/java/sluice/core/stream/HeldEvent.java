package sluice.core.stream;

import org.jspecify.annotations.Nullable;
import sluice.core.event.Delivery;
import sluice.core.event.EventBody;
import sluice.core.pgoutput.ColumnMapping;
import sluice.core.transaction.Change;

/// One change for one subscription inside a {@link HeldCommit}. Owned by the engine's thread.
///
/// Life: waits for a probe's answer or for its subscription's new rule, then is decided: sent in a form, or dropped.
public final class HeldEvent {
    private final Subscription subscription;
    private final Change change;
    private ColumnMapping mapping;
    private final @Nullable EventBody body;
    private final int bodyGeneration;
    private @Nullable Delivery delivery;
    private boolean waiting;
    private int generation;

    private HeldEvent(Subscription subscription, Change change, ColumnMapping mapping, @Nullable EventBody body) {
        this.subscription = subscription;
        this.change = change;
        this.mapping = mapping;
        this.body = body;
        this.generation = subscription.generation();
        this.bodyGeneration = generation;
    }

    public static HeldEvent waiting(Subscription subscription, Change change, ColumnMapping mapping) {
        HeldEvent event = new HeldEvent(subscription, change, mapping, null);
        event.waiting = true;
        return event;
    }

    /// @param body what the others who see the change are sent as well; null to have it made when the event is sent
    public static HeldEvent decided(
            Subscription subscription,
            Change change,
            ColumnMapping mapping,
            Delivery delivery,
            @Nullable EventBody body) {
        HeldEvent event = new HeldEvent(subscription, change, mapping, body);
        event.delivery = delivery;
        return event;
    }

    public Subscription subscription() {
        return subscription;
    }

    public Change change() {
        return change;
    }

    public ColumnMapping mapping() {
        return mapping;
    }

    /// Another mapping of the same tuples, after the catalog moved.
    public void map(ColumnMapping columns) {
        mapping = columns;
    }

    /// Bytes of the row images and the body it keeps alive.
    public long weightBytes() {
        return weightBytes(change) + (body == null ? 0 : body.weightBytes());
    }

    /// Text bytes of a change's row images.
    public static long weightBytes(Change change) {
        return switch (change) {
            case Change.Insert insert -> insert.row().textBytes();
            case Change.Update update ->
                update.row().textBytes()
                        + (update.old() == null ? 0L : update.old().textBytes());
            case Change.Delete delete -> delete.old().textBytes();
            case Change.Truncate truncate -> 0;
        };
    }

    public boolean isWaiting() {
        return waiting;
    }

    /// The form to send, null when there is nothing to send.
    public @Nullable Delivery delivery() {
        return delivery;
    }

    /// What is sent, as long as the rule it was made under is the subscription's; null when it is to be made.
    public @Nullable EventBody body() {
        return bodyGeneration == subscription.generation() ? body : null;
    }

    /// Whether the subscription's rule is still the one the decision was made under.
    public boolean isCurrent() {
        return generation == subscription.generation();
    }

    public void decide(Delivery decided) {
        delivery = decided;
        waiting = false;
        generation = subscription.generation();
    }

    /// Nothing is sent for this event.
    public void drop() {
        delivery = null;
        waiting = false;
        generation = subscription.generation();
    }

    /// Waits again, e.g. for a probe under the subscription's new rule.
    public void waitAgain() {
        delivery = null;
        waiting = true;
        generation = subscription.generation();
    }
}
