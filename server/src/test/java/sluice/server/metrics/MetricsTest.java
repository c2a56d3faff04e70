package sluice.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Tier;
import sluice.core.shape.Operation;
import sluice.core.stream.CloseReason;
import sluice.core.wal.Lsn;

class MetricsTest {
    private final Metrics metrics = new Metrics();

    private String scrape() {
        return new String(metrics.scrape(), StandardCharsets.UTF_8);
    }

    @Test
    void the_page_lists_exactly_what_there_is() throws IOException {
        Path page = Path.of(System.getProperty("sluice.root")).resolve("docs/metrics.md");
        List<String> listed = Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("| `sluice_"))
                .map(line -> {
                    String[] cells = line.split("\\|");
                    return cells[1].strip().replace("`", "") + " " + cells[2].strip() + " "
                            + Arrays.stream(cells[3].strip().replace("`", "").split(", "))
                                    .filter(label -> !label.isEmpty())
                                    .toList();
                })
                .toList();
        List<String> made = metrics.figures().stream()
                .map(figure -> figure.name() + " " + figure.kind() + " " + figure.labels())
                .toList();
        assertThat(listed).containsExactlyInAnyOrderElementsOf(made);
    }

    @Test
    void methods_move_the_figures_they_name() {
        metrics.position(Metrics.Position.CONFIRMED, new Lsn(256));
        metrics.changeDispatched("public", "docs", Operation.INSERT);
        metrics.routingCandidates("public", "docs", 1);
        metrics.streamClosed(CloseReason.STREAM_LAGGING);
        metrics.configWarnings(List.of("no_primary_key"));
        metrics.authorization().resolved(Tier.B, AuthorizationMetrics.Result.GRANTED, 0.002);
        metrics.authorization().unknown("public", "docs", Operation.DELETE);
        var kind = new Metrics.SubscriptionKind("public", "docs", "A", "true");
        metrics.subscriptionAdded(kind);
        metrics.subscriptionAdded(kind);
        metrics.subscriptionRemoved(kind);
        assertThat(scrape())
                .contains(
                        "sluice_wal_lsn{kind=\"confirmed\"} 256.0",
                        "sluice_changes_total{op=\"INSERT\",schema=\"public\",table=\"docs\"} 1.0",
                        "sluice_routing_candidates_bucket{schema=\"public\",table=\"docs\",le=\"1.0\"} 1",
                        "sluice_stream_closed_total{reason=\"stream_lagging\"} 1.0",
                        "sluice_config_warnings{code=\"no_primary_key\"} 1.0",
                        "sluice_authz_resolutions_total{result=\"granted\",tier=\"B\"} 1.0",
                        "sluice_authz_unknown_total{op=\"DELETE\",schema=\"public\",table=\"docs\"} 1.0",
                        "sluice_subscriptions{indexed=\"true\",schema=\"public\",table=\"docs\",tier=\"A\"} 1.0");
        metrics.configWarnings(List.of());
        assertThat(scrape()).doesNotContain("no_primary_key");
    }

    /// Each method on figures of its own: what shows another value than 0 afterwards is what it moves.
    @Test
    void every_figure_is_moved_by_a_method_that_the_server_calls_unless_the_page_says_it_is_not() throws Exception {
        Path root = Path.of(System.getProperty("sluice.root"));
        Set<String> notMoved = new TreeSet<>();
        metrics.figures().forEach(figure -> notMoved.add(figure.name()));
        String calls = sources(root.resolve("server/src/main/java/sluice/server"));
        for (Class<?> owner : List.of(Metrics.class, AuthorizationMetrics.class, ChannelMetrics.class)) {
            for (Method method : owner.getMethods()) {
                if (method.getDeclaringClass() == owner
                        && method.getReturnType() == void.class
                        && calls.contains("." + method.getName() + "(")) {
                    notMoved.removeAll(movedBy(method));
                }
            }
        }
        Set<String> saidNotToMove = Files.readAllLines(root.resolve("docs/metrics.md")).stream()
                .filter(line -> line.startsWith("| `sluice_") && line.contains("*Not moved yet.*"))
                .map(line -> line.split("`")[1])
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(notMoved).isEqualTo(saidNotToMove);
    }

    private static Set<String> movedBy(Method method) throws ReflectiveOperationException {
        Metrics own = new Metrics();
        Object[] arguments = Arrays.stream(method.getParameterTypes())
                .map(MetricsTest::argument)
                .toArray();
        Class<?> owner = method.getDeclaringClass();
        method.invoke(
                owner == Metrics.class ? own : owner == ChannelMetrics.class ? own.channels() : own.authorization(),
                arguments);
        String shown = new String(own.scrape(), StandardCharsets.UTF_8);
        return own.figures().stream()
                .map(Figures.Figure::name)
                .filter(name -> shown.lines()
                        .anyMatch(line -> line.matches(name + "(_count)?(\\{.*\\})? .*")
                                && !line.endsWith(" 0.0")
                                && !line.endsWith(" 0")))
                .collect(Collectors.toSet());
    }

    private static Object argument(Class<?> type) {
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        return switch (type.getSimpleName()) {
            case "String" -> "x";
            case "int" -> 3;
            case "long" -> 7L;
            case "double" -> 1.5;
            case "Duration" -> Duration.ofSeconds(3);
            case "List" -> List.of("x");
            case "Lsn" -> new Lsn(256);
            case "SubscriptionKind" -> new Metrics.SubscriptionKind("s", "t", "A", "true");
            default -> throw new AssertionError("no example of " + type);
        };
    }

    /// The sources besides the figures themselves.
    private static String sources(Path folder) throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.startsWith(folder.resolve("metrics")))
                    .toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    @Test
    void the_age_of_the_rights_is_absent_before_the_first_poll() {
        assertThat(scrape()).doesNotContain("sluice_rights_poll_age_seconds");
        metrics.rightsPollTook(3600);
        assertThat(scrape()).containsPattern("(?m)^sluice_rights_poll_age_seconds 36[0-9][0-9][.]");
    }

    @Test
    void the_safe_log_is_absent_while_it_is_unlimited() {
        assertThat(scrape()).doesNotContain("sluice_slot_safe_wal_bytes");
        metrics.slotSafeWalBytes(7);
        assertThat(scrape()).contains("sluice_slot_safe_wal_bytes 7.0");
        metrics.slotSafeWalUnlimited();
        assertThat(scrape()).doesNotContain("sluice_slot_safe_wal_bytes");
    }

    @Test
    void however_many_tables_there_are_the_labels_stay_bounded() {
        for (int i = 0; i < TableNames.TABLES_MAX + 500; i++) {
            metrics.changeDispatched("public", "t" + i, Operation.INSERT);
        }
        assertThat(scrape().lines().filter(line -> line.startsWith("sluice_changes_total{")))
                .hasSize(TableNames.TABLES_MAX + 1)
                .contains("sluice_changes_total{op=\"INSERT\",schema=\"other\",table=\"other\"} 500.0");
    }

    @Test
    void however_many_columns_and_functions_are_made_and_renamed_the_labels_stay_bounded() {
        for (int i = 0; i < Metrics.COLUMNS_MAX + 5; i++) {
            metrics.toastUnchanged("public", "docs", "c" + i);
        }
        for (int i = 0; i < AuthorizationMetrics.REASONS_MAX + 7; i++) {
            metrics.authorization().compileFailed("public", "docs", "function \"public.f" + i + "\"");
        }
        assertThat(scrape().lines().filter(line -> line.startsWith("sluice_toast_unchanged_total{")))
                .hasSize(Metrics.COLUMNS_MAX + 1)
                .contains("sluice_toast_unchanged_total{column=\"other\",schema=\"public\",table=\"docs\"} 5.0");
        assertThat(scrape().lines().filter(line -> line.startsWith("sluice_authz_compile_failures_total{")))
                .hasSize(AuthorizationMetrics.REASONS_MAX + 1)
                .contains("sluice_authz_compile_failures_total"
                        + "{reason=\"other\",schema=\"public\",table=\"docs\"} 7.0");
    }

    @Test
    void the_jvm_is_measured_on_request() {
        assertThat(new String(Metrics.withJvm().scrape(), StandardCharsets.UTF_8))
                .contains("jvm_memory_used_bytes");
    }
}
