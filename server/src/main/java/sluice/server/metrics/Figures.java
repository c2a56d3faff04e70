package sluice.server.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;

/// Makes figures and remembers what it made, so that the documentation can be compared with it.
final class Figures {
    /// @param kind as Prometheus calls it
    record Figure(String name, String kind, List<String> labels) {}

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final List<Figure> made = new ArrayList<>();

    PrometheusRegistry registry() {
        return registry;
    }

    List<Figure> made() {
        return List.copyOf(made);
    }

    Gauge gauge(String name, String help, String... labels) {
        made.add(new Figure(name, "gauge", List.of(labels)));
        return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    /// A gauge that is absent while its value is below zero.
    void gaugeWhenKnown(String name, String help, DoubleSupplier value) {
        made.add(new Figure(name, "gauge", List.of()));
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(figure -> {
                    double now = value.getAsDouble();
                    if (now >= 0) {
                        figure.call(now);
                    }
                })
                .register(registry);
    }

    Counter counter(String name, String help, String... labels) {
        made.add(new Figure(name, "counter", List.of(labels)));
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    /// @param bounds upper bounds of the buckets, rising
    Histogram histogram(String name, String help, double[] bounds, String... labels) {
        made.add(new Figure(name, "histogram", List.of(labels)));
        return Histogram.builder()
                .name(name)
                .help(help)
                .labelNames(labels)
                .classicOnly()
                .classicUpperBounds(bounds)
                .register(registry);
    }
}
