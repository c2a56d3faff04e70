package sluice.testkit.sse;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sluice.testkit.Await;

/// An open event stream, read by a thread of its own and consumed by a test in the order of arrival.
///
///     SseClient client = SseClient.post(uri, body).bearer(token).open();
///     client.await("ready");
///     SseEvent change = client.await(event -> event.is("change"));
///     client.assertNothingUntil(fence);     // what must not arrive, without sleeping
///
/// Awaiting consumes what comes before the match; [#received] still has it. A response other than 200 is not an event
/// stream: then [#status] and [#refusal] say all.
public final class SseClient implements AutoCloseable {
    /// How a stream came to its end.
    public enum End {
        /// The response was complete.
        BY_SERVER,
        /// The connection was cut in the middle of it.
        CUT,
        /// This client closed or aborted it.
        BY_CLIENT
    }

    private sealed interface Arrival {}

    private record Arrived(SseEvent event) implements Arrival {}

    private record Ended(End end) implements Arrival {}

    private final StreamConnection connection;
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    private final Semaphore room;
    private final List<SseEvent> received = new ArrayList<>();
    private final AtomicLong heartbeats = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final SseParser parser = new SseParser(this::arrive, comment -> heartbeats.incrementAndGet());
    private final ReentrantLock gate = new ReentrantLock();
    private final Condition opened = gate.newCondition();
    private final Thread reader;
    private final String refusal;
    private boolean paused;
    private volatile boolean closing;
    private @Nullable End end;

    SseClient(StreamConnection connection, int queueMax) throws IOException {
        this.connection = connection;
        this.room = new Semaphore(queueMax);
        this.refusal =
                connection.status() == 200 ? "" : new String(connection.body().readAllBytes(), StandardCharsets.UTF_8);
        this.reader = Thread.ofVirtual().name("sse-client").unstarted(this::read);
        if (connection.status() == 200) {
            reader.start();
        } else {
            connection.close();
        }
    }

    public static SseRequest post(URI uri, String jsonBody) {
        return SseRequest.to(uri, "POST", jsonBody);
    }

    public static SseRequest get(URI uri) {
        return SseRequest.to(uri, "GET", "");
    }

    public int status() {
        return connection.status();
    }

    /// The body of a response other than 200; empty for 200.
    public String refusal() {
        return refusal;
    }

    /// The first value of a header, or null. Names are not case-sensitive.
    public @Nullable String header(String name) {
        Map<String, List<String>> headers = connection.headers();
        return headers.entrySet().stream()
                .filter(entry -> entry.getKey().equalsIgnoreCase(name))
                .map(entry -> entry.getValue().getFirst())
                .findFirst()
                .orElse(null);
    }

    /// Comments so far.
    public long heartbeats() {
        return heartbeats.get();
    }

    /// Bytes of the body so far.
    public long bytes() {
        return bytes.get();
    }

    /// What the server said in `retry`, or null.
    public @Nullable Long retryMillis() {
        return parser.retryMillis();
    }

    /// All events that the test has consumed, first to last.
    public List<SseEvent> received() {
        return List.copyOf(received);
    }

    public SseEvent await(String type) {
        return await(event -> event.is(type));
    }

    public SseEvent await(Predicate<SseEvent> wanted) {
        return await(wanted, Await.LONG);
    }

    /// The first event from here on that is wanted.
    ///
    /// @throws AssertionError when it is not there at the deadline, or the stream ends before
    public SseEvent await(Predicate<SseEvent> wanted, Duration max) {
        long deadline = System.nanoTime() + max.toNanos();
        while (true) {
            SseEvent event = nextEvent(deadline);
            if (wanted.test(event)) {
                return event;
            }
        }
    }

    /// The very next event.
    public SseEvent next() {
        return await(event -> true);
    }

    /// The very next event, or null when the stream has ended instead.
    public @Nullable SseEvent nextOrEnd() {
        long deadline = System.nanoTime() + Await.LONG.toNanos();
        int before = received.size();
        while (received.size() == before && end == null) {
            take(deadline, "an event or the end");
        }
        return received.size() == before ? null : received.getLast();
    }

    /// The next so many events.
    public List<SseEvent> next(int count) {
        List<SseEvent> events = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            events.add(next());
        }
        return events;
    }

    /// What arrives before the fence: an event that the test made the server send after
    /// everything it asks about. An
    /// empty answer proves that nothing came, without waiting for nothing.
    public List<SseEvent> eventsUntil(Predicate<SseEvent> fence) {
        int from = received.size();
        await(fence);
        return List.copyOf(received.subList(from, received.size() - 1));
    }

    /// Fails unless the fence is the next event.
    public void assertNothingUntil(Predicate<SseEvent> fence) {
        List<SseEvent> events = eventsUntil(fence);
        if (!events.isEmpty()) {
            throw new AssertionError("should not have arrived: " + events);
        }
    }

    /// Consumes what is left and says how it ended.
    ///
    /// @throws AssertionError when it has not ended at the deadline
    public End awaitEnd(Duration max) {
        long deadline = System.nanoTime() + max.toNanos();
        while (end == null) {
            take(deadline, "the end of the stream");
        }
        return end;
    }

    public End awaitEnd() {
        return awaitEnd(Await.LONG);
    }

    /// Stops reading from the socket: a slow reader. A read that is already waiting still takes what it gets.
    public void pause() {
        gate.lock();
        try {
            paused = true;
        } finally {
            gate.unlock();
        }
    }

    public void resume() {
        gate.lock();
        try {
            paused = false;
            opened.signalAll();
        } finally {
            gate.unlock();
        }
    }

    /// Goes away without a word: the server sees a reset.
    public void abort() {
        closing = true;
        try {
            connection.abort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            reader.interrupt();
        }
    }

    @Override
    public void close() {
        closing = true;
        try {
            connection.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            reader.interrupt();
        }
    }

    private SseEvent nextEvent(long deadline) {
        int before = received.size();
        while (received.size() == before) {
            if (end != null) {
                throw new AssertionError("the stream ended " + end + "; received: " + summary());
            }
            take(deadline, "an event");
        }
        return received.getLast();
    }

    private void take(long deadline, String what) {
        try {
            Arrival arrival = arrivals.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            switch (arrival) {
                case null -> throw new AssertionError("no sign of " + what + "; received: " + summary());
                case Arrived(SseEvent event) -> {
                    received.add(event);
                    room.release();
                }
                case Ended(End how) -> end = how;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while awaiting " + what, e);
        }
    }

    private String summary() {
        int from = Math.max(0, received.size() - 20);
        return received.size() + " events, the last: " + received.subList(from, received.size());
    }

    private void read() {
        End how = End.BY_SERVER;
        try (InputStream body = connection.body()) {
            byte[] buffer = new byte[16 * 1024];
            awaitGate();
            for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
                bytes.addAndGet(read);
                parser.feed(buffer, 0, read);
                awaitGate();
            }
        } catch (IOException | InterruptedException | UncheckedIOException e) {
            how = End.CUT;
        }
        arrivals.add(new Ended(closing ? End.BY_CLIENT : how));
    }

    private void awaitGate() throws InterruptedException {
        gate.lockInterruptibly();
        try {
            while (paused) {
                opened.await();
            }
        } finally {
            gate.unlock();
        }
    }

    private void arrive(SseEvent event) {
        try {
            room.acquire(); // full: the test reads slowly, and so do we
            arrivals.add(new Arrived(event));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("closed while full", e));
        }
    }
}
