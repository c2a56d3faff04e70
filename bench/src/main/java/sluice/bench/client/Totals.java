package sluice.bench.client;

import org.HdrHistogram.Histogram;

/// What all streams received, and how long it took. The client's thread only.
///
/// Faults count from the first event to the last; delays, reads and bytes since {@link #startWindow}.
final class Totals {
    private static final long DELAY_MICROS_MAX = 60_000_000;

    private final Faults faults = new Faults();
    private final Histogram sinceCommit = new Histogram(DELAY_MICROS_MAX, 3);
    private final Histogram sinceCall = new Histogram(DELAY_MICROS_MAX, 3);
    private long events;
    private long readsWithEvents;
    private long bytes;
    private long distinctRows;
    private int ready;
    private int refused;
    private int gone;
    private long failures;
    private String firstFailure = "";

    Faults faults() {
        return faults;
    }

    void startWindow() {
        sinceCommit.reset();
        sinceCall.reset();
        events = 0;
        readsWithEvents = 0;
        bytes = 0;
    }

    void received(long receiptMicros, long commitMicros, long calledMicros) {
        events++;
        sinceCommit.recordValue(delay(receiptMicros - commitMicros));
        sinceCall.recordValue(delay(receiptMicros - calledMicros));
    }

    /// Two processes that read one clock may still read it in either order.
    private static long delay(long micros) {
        return Math.clamp(micros, 0, DELAY_MICROS_MAX);
    }

    void distinctRow() {
        distinctRows++;
    }

    void read(int length, boolean broughtEvents) {
        if (broughtEvents) {
            readsWithEvents++;
            bytes += length;
        }
    }

    void streamReady() {
        ready++;
    }

    /// A stream, or one of its subscriptions, could not be opened.
    void streamRefused(String why) {
        refused++;
        failure(why);
    }

    /// An open stream has ended.
    void streamGone(String why) {
        gone++;
        failure(why);
    }

    void failure(String what) {
        failures++;
        if (firstFailure.isEmpty()) {
            firstFailure = what;
        }
    }

    long events() {
        return events;
    }

    long distinctRows() {
        return distinctRows;
    }

    /// Streams that were opened as asked, or were not.
    int decided() {
        return ready + refused;
    }

    int streamsRefused() {
        return refused;
    }

    long failures() {
        return failures;
    }

    /// Empty when nothing failed.
    String firstFailure() {
        return firstFailure;
    }

    /// The window as one line of `name=value`, delays in microseconds.
    ///
    /// @param lost rows that some stream should have received and did not
    String line(long lost) {
        double perRead = readsWithEvents == 0 ? 0 : (double) events / readsWithEvents;
        double perEvent = events == 0 ? 0 : (double) bytes / events;
        return "events=" + events + " lost=" + lost + " duplicated=" + faults.duplicated() + " out_of_order="
                + faults.outOfOrder() + " seq_broken=" + faults.seqBroken() + " unexpected="
                + faults.unexpectedEvents() + " gone=" + gone + " refused=" + refused + " failures=" + failures
                + " frames_per_read=" + perRead + " bytes_per_event=" + perEvent + delays(" commit", sinceCommit)
                + delays(" call", sinceCall);
    }

    private static String delays(String name, Histogram delays) {
        return name + "_p50=" + delays.getValueAtPercentile(50) + name + "_p99=" + delays.getValueAtPercentile(99)
                + name + "_max=" + delays.getMaxValue();
    }
}
