package sluice.bench;

/// Why nothing can be measured, in one line.
final class BenchException extends Exception {
    BenchException(String problem) {
        super(problem);
    }
}
