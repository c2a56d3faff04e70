package sluice.server.runtime;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookQuestion;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Input;

/// Puts the engine's questions to hooks, each on a virtual thread, and hands the answers back.
///
/// Each endpoint has its own gate, so that one that does not answer keeps no other waiting. A question that cannot
/// pass the gate in the time a call may take has no verdict. So every question is answered within twice that time;
/// how many are open is the engine's to bound.
public final class HookRunner implements Consumer<Effect.AskHook>, AutoCloseable {
    private static final int CALLS_AT_ONCE = 32;

    private final ExecutorService executor = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("hook-", 0).factory());

    /// As many as namespaces are declared.
    private final Map<String, Semaphore> gatesByUrl = new ConcurrentHashMap<>();

    private final Function<HookQuestion, HookAnswer> hooks;
    private final Duration timeout;
    private final RandomGenerator random;
    private final Consumer<Input> engine;

    /// @param hooks asks and waits, within the timeout
    public HookRunner(
            Function<HookQuestion, HookAnswer> hooks,
            Duration timeout,
            RandomGenerator random,
            Consumer<Input> engine) {
        this.hooks = hooks;
        this.timeout = timeout;
        this.random = random;
        this.engine = engine;
    }

    @Override
    public void accept(Effect.AskHook asked) {
        try {
            executor.execute(() -> answer(asked, ask(asked.question())));
        } catch (RejectedExecutionException e) {
            answer(asked, HookAnswer.none("the server is stopping"));
        }
    }

    private void answer(Effect.AskHook asked, HookAnswer answer) {
        engine.accept(new Input.HookAnswered(asked.questionId(), answer, random.nextDouble()));
    }

    private HookAnswer ask(HookQuestion question) {
        Semaphore gate = gatesByUrl.computeIfAbsent(question.key().url(), url -> new Semaphore(CALLS_AT_ONCE));
        try {
            if (!gate.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                return HookAnswer.none("the endpoint is too busy");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return HookAnswer.none("the server is stopping");
        }
        try {
            return hooks.apply(question);
        } catch (RuntimeException | Error e) {
            // not a yes, whatever it was; and no memory for it is no reason to leave whoever asked without an answer
            return HookAnswer.none(
                    "the endpoint could not be asked: " + e.getClass().getSimpleName());
        } finally {
            gate.release();
        }
    }

    /// Ends what is under way.
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
