package sluice.bench;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Prints figures: as JSON each line at once, as a table when all are there.
final class Report {
    /// What is printed.
    enum Form {
        TABLE,
        JSON
    }

    private static final String ROW = "%-10s %14s %16s %17s %9s %9s%n";

    private final Form form;
    private final PrintWriter out;
    private final Machine machine = Machine.here();
    private final List<Figures> all = new ArrayList<>();

    Report(Form form, PrintWriter out) {
        this.form = form;
        this.out = out;
    }

    void add(Figures figures) {
        all.add(figures);
        if (form == Form.JSON) {
            JsonMapper mapper = new JsonMapper();
            ObjectNode line = mapper.createObjectNode();
            line.put("scenario", figures.scenario());
            figures.values().forEach((name, value) -> line.set(name, mapper.valueToTree(value)));
            line.put("machine", machine.toString());
            out.println(line);
            out.flush();
        }
    }

    void end() {
        if (form == Form.TABLE) {
            out.printf(
                    Locale.ROOT,
                    ROW,
                    "scenario",
                    "heap B/stream",
                    "CPU us/delivery",
                    "alloc B/delivery",
                    "p50 ms",
                    "p99 ms");
            for (Figures figures : all) {
                out.printf(
                        Locale.ROOT,
                        ROW,
                        figures.scenario(),
                        cell(figures, Figures.HEAP),
                        cell(figures, Figures.CPU),
                        cell(figures, Figures.ALLOCATED),
                        cell(figures, Figures.P50),
                        cell(figures, Figures.P99));
            }
            for (Figures figures : all) {
                out.println();
                out.println(figures.scenario());
                figures.values().forEach((name, value) -> {
                    if (value != null && !name.endsWith(Figures.SPREAD)) {
                        Object spread = figures.values().get(name + Figures.SPREAD);
                        out.println("  " + name + " " + value + (spread == null ? "" : " (" + shown(spread) + ")"));
                    }
                });
                figures.notes().lines().forEach(line -> out.println("  " + line));
            }
            out.println();
            out.println(machine);
        }
        out.flush();
    }

    private static String cell(Figures figures, String name) {
        Object value = figures.values().get(name);
        return value == null ? "-" : value.toString();
    }

    private static String shown(Object value) {
        return value instanceof double[] pair ? pair[0] + " to " + pair[1] : value.toString();
    }

    /// Nothing was lost, came twice or out of order.
    boolean faultless() {
        return all.stream().allMatch(figures -> figures.faults() == 0);
    }
}
