package sluice.server.app;

/// Runs what has to be ended when the process is told to stop, by Ctrl-C, SIGTERM or its own exit.
public final class StopSignal {
    private StopSignal() {}

    /// @param ending runs once, on a thread of its own; the process lasts until it returns
    public static void install(Runnable ending) {
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("stop").unstarted(ending));
    }
}
