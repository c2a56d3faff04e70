package sluice.core.function;

/// `inet` and `cidr` (`network.c`).
final class NetworkFunctions {
    private NetworkFunctions() {}

    static void register(FunctionTable table) {}
}
