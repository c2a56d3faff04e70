package sluice.server.app;

import java.util.concurrent.CountDownLatch;

/// Runs what has to be ended when the process is told to stop, by Ctrl-C, SIGTERM or its own exit.
public final class StopSignal {
    private final CountDownLatch stopped = new CountDownLatch(1);

    private StopSignal() {}

    /// @param ending runs once, on a thread of its own; the process lasts until it returns
    public static StopSignal install(Runnable ending) {
        StopSignal signal = new StopSignal();
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("stop").unstarted(() -> {
            try {
                ending.run();
            } finally {
                signal.stopped.countDown();
            }
        }));
        return signal;
    }

    /// Blocks until the process was told to stop and the ending has run.
    public void await() throws InterruptedException {
        stopped.await();
    }
}
