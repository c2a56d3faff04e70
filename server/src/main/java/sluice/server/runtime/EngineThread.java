package sluice.server.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jspecify.annotations.Nullable;
import sluice.core.dispatch.Engine;
import sluice.core.dispatch.Input;
import sluice.core.transaction.WalEvent;

/// The thread that owns the engine.
///
/// Commands and answers come by {@link #submit} from any thread. Their queue has no bound of its own: an answer
/// exists only for a question the engine asked, a command only for a connection that was admitted, and both are
/// bounded where they begin. Events of the log are taken from the inbox a few at a time, so that neither starves
/// the other, and only while the engine's line is free.
public final class EngineThread {
    private static final int INPUTS_A_ROUND = 256;
    private static final int EVENTS_A_ROUND = 64;
    private static final Duration TICK = Duration.ofMillis(50);
    private static final Duration SHARD_PAUSE = Duration.ofMillis(1);

    private final MpscUnboundedArrayQueue<Input> inputs = new MpscUnboundedArrayQueue<>(1024);
    private final AtomicBoolean parked = new AtomicBoolean();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final InstantSource clock;
    private final Consumer<Throwable> broken;
    private final Observer observer;
    private @Nullable Thread thread;
    private Instant nextTick = Instant.EPOCH;

    /// Told what becomes of the log's events. Called on the engine's thread; must never wait.
    public interface Observer {
        /// It is taken and dispatched next.
        void begins(WalEvent event);

        void dispatched(WalEvent event, long nanos);

        /// The engine would dispatch more, and no event waits.
        void drained();
    }

    /// @param broken called once when an invariant of the engine is broken: the process must stop
    public EngineThread(InstantSource clock, Observer observer, Consumer<Throwable> broken) {
        this.clock = clock;
        this.observer = observer;
        this.broken = broken;
    }

    /// Called once.
    ///
    /// @param room whether what a further commit brings can be taken by the streams' shards;
    /// while it cannot, the log
    ///     waits in the inbox and then in PostgreSQL
    public void start(Engine engine, WalInbox inbox, BooleanSupplier room) {
        Thread owner = Thread.ofPlatform().name("engine").unstarted(() -> run(engine, inbox, room));
        thread = owner;
        owner.start();
    }

    /// Hands an input over; never waits. After {@link #stop} it is dropped.
    public void submit(Input input) {
        inputs.offer(input);
        wake();
    }

    /// Wakes the engine when it sleeps; any thread.
    public void wake() {
        Thread owner = thread;
        if (owner != null && parked.get() && parked.compareAndSet(true, false)) {
            LockSupport.unpark(owner);
        }
    }

    /// Ends the thread after its present step and waits for it.
    public void stop() {
        stopped.set(true);
        Thread owner = thread;
        if (owner == null) {
            return;
        }
        LockSupport.unpark(owner);
        try {
            owner.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(Engine engine, WalInbox inbox, BooleanSupplier room) {
        try {
            while (!stopped.get()) {
                boolean worked = inputs(engine);
                worked |= events(engine, inbox, room);
                worked |= room.getAsBoolean() && engine.proceed(clock.instant());
                tick(engine);
                if (!worked) {
                    sleep(inbox, engine, room);
                }
            }
        } catch (RuntimeException | Error e) {
            broken.accept(e);
        }
    }

    private boolean inputs(Engine engine) {
        boolean worked = false;
        for (int i = 0; i < INPUTS_A_ROUND; i++) {
            Input input = inputs.poll();
            if (input == null) {
                break;
            }
            engine.step(input, clock.instant());
            worked = true;
        }
        return worked;
    }

    private boolean events(Engine engine, WalInbox inbox, BooleanSupplier room) {
        boolean worked = false;
        for (int i = 0; i < EVENTS_A_ROUND && engine.acceptsWal() && room.getAsBoolean(); i++) {
            WalEvent event = inbox.poll();
            if (event == null) {
                observer.drained();
                break;
            }
            observer.begins(event);
            long start = System.nanoTime();
            engine.step(new Input.Wal(event), clock.instant());
            observer.dispatched(event, System.nanoTime() - start);
            worked = true;
        }
        return worked;
    }

    private void tick(Engine engine) {
        Instant now = clock.instant();
        if (!now.isBefore(nextTick)) {
            nextTick = now.plus(TICK);
            engine.step(new Input.Tick(), now);
        }
    }

    private void sleep(WalInbox inbox, Engine engine, BooleanSupplier room) {
        parked.set(true);
        // looked at again after the flag is up: whoever came in between saw no one to wake
        boolean idle = inputs.isEmpty() && (inbox.weightBytes() == 0 || !engine.acceptsWal());
        if (idle && !stopped.get()) {
            LockSupport.parkNanos(this, TICK.toNanos() / 2);
        } else if (!room.getAsBoolean()) {
            LockSupport.parkNanos(this, SHARD_PAUSE.toNanos());
        }
        parked.set(false);
    }
}
