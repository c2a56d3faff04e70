package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.server.app.ClientCopy.Strictness;
import sluice.testkit.Await;
import sluice.testkit.sse.SseClient;
import sluice.testkit.sse.SseEvent;
import sluice.testkit.sse.SseRequest;

/// A client that follows one subscription from its rows on, on a thread of its own, and comes back where it was
/// whenever its stream ends: until a row is there that the test writes last.
///
/// Every event must fit what it knows already ({@link ClientCopy}), and no row may come that is not its own. When it
/// is told that it has missed something, or its shape ends, it begins with the rows again.
final class Follower implements AutoCloseable {
    /// What it follows.
    ///
    /// @param owner whose rows alone may come; null when something else decides
    /// @param fence the id of the row that is written last
    record Wish(
            String subject,
            String table,
            Strictness strictness,
            @Nullable String owner,
            int fence) {}

    private final Wish wish;
    private final Supplier<SseRequest> fromRows;
    private final java.util.function.Function<String, SseRequest> fromPosition;
    private final AtomicInteger resumes = new AtomicInteger();
    private final AtomicInteger beginnings = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private final CompletableFuture<Void> live = new CompletableFuture<>();
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private volatile boolean closed;
    private volatile @Nullable SseClient client;
    private ClientCopy copy;

    /// @param fromRows asks for a stream of the subscription `s` that begins with a snapshot
    /// @param fromPosition the same from a position on
    Follower(Wish wish, Supplier<SseRequest> fromRows, java.util.function.Function<String, SseRequest> fromPosition) {
        this.wish = wish;
        this.fromRows = fromRows;
        this.fromPosition = fromPosition;
        this.copy = ClientCopy.fromSnapshot("s", wish.strictness());
    }

    /// Returns when it has its rows and is live.
    Follower start() {
        Thread.ofVirtual().name("follower").start(this::run);
        await(live);
        return this;
    }

    Wish wish() {
        return wish;
    }

    /// How often it went on where it had been.
    int resumes() {
        return resumes.get();
    }

    /// How often it had to read its rows, the first time included.
    int beginnings() {
        return beginnings.get();
    }

    /// How often it was told to come back later.
    int refusals() {
        return refusals.get();
    }

    /// What it knows once the last row is there.
    Map<Integer, JsonNode> rows() {
        await(done);
        return copy.rows();
    }

    private static void await(CompletableFuture<Void> what) {
        try {
            what.get(2 * Await.LONG.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("a client: " + e.getCause(), e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("a client: " + e, e);
        }
    }

    private void run() {
        try {
            while (!copy.rows().containsKey(wish.fence())) {
                boolean goesOn = copy.isLive();
                SseClient opened = open(goesOn ? fromPosition.apply(copy.resume()) : fromRows.get());
                try (opened) {
                    follow(opened, goesOn);
                }
            }
            done.complete(null);
        } catch (RuntimeException | AssertionError e) {
            live.completeExceptionally(e);
            done.completeExceptionally(e);
        }
    }

    private SseClient open(SseRequest request) {
        AtomicReference<@Nullable SseClient> opened = new AtomicReference<>();
        Await.until("a stream opens", () -> {
            try {
                SseClient some = request.open();
                if (closed || some.status() == 200) {
                    opened.set(some);
                    return true;
                }
                assertThat(some.status()).as(some.refusal()).isEqualTo(503);
                refusals.incrementAndGet();
                return false;
            } catch (UncheckedIOException e) {
                return false; // cut before the answer
            }
        });
        SseClient there = java.util.Objects.requireNonNull(opened.get());
        client = there;
        return there;
    }

    private void follow(SseClient stream, boolean goesOn) {
        SseEvent ready = stream.nextOrEnd();
        if (ready == null) {
            return;
        }
        JsonNode result = ready.json().at("/subscriptions/0");
        if (!result.path("ok").asBoolean()) {
            assertThat(result.at("/error/retryable").asBoolean()
                            || result.path("retryable").asBoolean())
                    .as(ready.data())
                    .isTrue();
            refusals.incrementAndGet();
            return;
        }
        if (goesOn && result.path("resumed").asBoolean()) {
            resumes.incrementAndGet();
            copy.goOn(ready);
        } else if (goesOn) {
            copy = ClientCopy.fromSnapshot("s", wish.strictness());
            return;
        } else {
            copy = ClientCopy.fromSnapshot("s", wish.strictness());
            beginnings.incrementAndGet();
            copy.take(ready);
        }
        SseEvent event = stream.nextOrEnd();
        while (event != null && take(event) && !copy.rows().containsKey(wish.fence())) {
            event = stream.nextOrEnd();
        }
    }

    /// @return whether the subscription goes on
    private boolean take(SseEvent event) {
        boolean ended = event.is("error");
        if (!ended) {
            requireOwn(event);
            copy.take(event);
            if (copy.isLive()) {
                live.complete(null);
            }
        }
        if (ended || copy.wasToldOfWithheld()) {
            copy = ClientCopy.fromSnapshot("s", wish.strictness());
            return false;
        }
        return true;
    }

    private void requireOwn(SseEvent event) {
        String owner = wish.owner();
        if (owner == null || !event.is("change")) {
            return;
        }
        for (String part : new String[] {"record", "old"}) {
            JsonNode of = event.json().path(part).path("owner_id");
            if (!of.isMissingNode() && !of.asText().equals(owner)) {
                throw new AssertionError("a row of somebody else: " + event.data());
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        SseClient open = client;
        if (open != null) {
            open.close();
        }
    }
}
