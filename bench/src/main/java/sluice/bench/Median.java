package sluice.bench;

import java.util.Arrays;

/// The middle one of repeated measurements, and how far apart they lie.
///
/// @param rounds how many there were
record Median(double value, double least, double greatest, int rounds) {
    /// @param measured at least one
    static Median of(double... measured) {
        double[] sorted = measured.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double value = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Median(value, sorted[0], sorted[sorted.length - 1], sorted.length);
    }

    double rounded() {
        return round(value);
    }

    /// Least and greatest, for the reader to judge the noise.
    double[] spread() {
        return new double[] {round(least), round(greatest)};
    }

    static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
