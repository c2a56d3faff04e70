package sluice.server.app;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sluice.core.authorization.Tier;
import sluice.core.catalog.CatalogImage;
import sluice.core.diagnostics.Census;
import sluice.core.diagnostics.Diagnosis;
import sluice.core.diagnostics.Finding;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Input;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.wal.Lsn;
import sluice.server.config.Settings;
import sluice.server.http.DiagnosticsReport;
import sluice.server.postgres.query.SlotStatus;

/// The report of a running server. Asks the engine what is open and which catalog it goes by; asks PostgreSQL
/// nothing.
///
/// One report is made at a time and stays good for a second, so the engine counts at most once a second however
/// often it is asked for. Thread-safe.
final class Diagnostics implements DiagnosticsReport {
    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final long GOOD_NANOS = Duration.ofSeconds(1).toNanos();

    private final Settings settings;
    private final List<Finding> atStart;
    private final Supplier<@Nullable Finding> ofSlot;
    private final Supplier<Lsn> received;
    private final Consumer<Input> engine;
    private final ReentrantLock turn = new ReentrantLock();
    private final AtomicReference<@Nullable Question> asked = new AtomicReference<>();
    private final AtomicReference<@Nullable SlotStatus> slot = new AtomicReference<>();

    /// Guarded by `turn`, as are those below.
    private String made = "";

    private long madeAtNanos;
    private long questions;
    private List<String> codes = List.of();
    private @Nullable Diagnosed diagnosed;

    /// What was found of one catalog: a large one takes a while, and stays for long.
    private record Diagnosed(CatalogImage catalog, List<Finding> findings) {}

    private record Question(long id, CompletableFuture<Census> answer) {}

    /// @param atStart what the start-up validation warned of
    /// @param ofSlot what is to be said of the slot now
    /// @param received the end of what came in from the log
    /// @param engine takes questions, from any thread
    Diagnostics(
            Settings settings,
            List<sluice.server.postgres.query.Finding> atStart,
            Supplier<@Nullable Finding> ofSlot,
            Supplier<Lsn> received,
            Consumer<Input> engine) {
        this.settings = settings;
        this.atStart = atStart.stream().map(StartFindings::of).toList();
        this.ofSlot = ofSlot;
        this.received = received;
        this.engine = engine;
    }

    /// The slot as it was last seen.
    void slot(SlotStatus status) {
        slot.set(status);
    }

    /// The engine's answer; its thread.
    void counted(Effect.Counted counted) {
        Question question = asked.get();
        if (question != null && question.id() == counted.requestId()) {
            question.answer().complete(counted.census());
        }
    }

    @Override
    public String json() {
        return look(() -> made);
    }

    /// The codes of the findings that are true now, each once. Waits for the engine, for a bounded time.
    ///
    /// @throws RequestException when the engine does not answer
    List<String> codes() {
        return look(() -> codes);
    }

    private <T> T look(Supplier<T> part) {
        try {
            if (!turn.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw late();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw late();
        }
        try {
            if (made.isEmpty() || System.nanoTime() - madeAtNanos > GOOD_NANOS) {
                made = report(census());
                madeAtNanos = System.nanoTime();
            }
            return part.get();
        } finally {
            turn.unlock();
        }
    }

    private Census census() {
        Question question = new Question(++questions, new CompletableFuture<>());
        asked.set(question);
        engine.accept(new Input.Count(question.id()));
        try {
            return question.answer().get(WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw late();
        } catch (TimeoutException | ExecutionException e) {
            throw late();
        } finally {
            asked.set(null);
        }
    }

    private static RequestException late() {
        return new RequestException(ErrorCode.CATALOG_UNAVAILABLE, "the engine did not answer in time");
    }

    private String report(Census census) {
        CatalogImage catalog = census.catalog();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("oracle", "rls");
        json.set("slot", slot());
        ObjectNode subscriptions = json.putObject("subscriptions")
                .put("total", census.subscriptions())
                .put("streams", census.streams())
                .put("relations", census.relations())
                .put("unindexed", census.unindexed());
        ObjectNode byTier = subscriptions.putObject("by_tier");
        for (Tier tier : Tier.values()) {
            byTier.put(tier.name(), census.subscriptions(tier));
        }
        json.putObject("publication")
                .put("name", settings.replication().publication())
                .put("tables", catalog.relations().size());
        Integer protocol = settings.replication().protocolVersion();
        json.putObject("replication_options")
                .put(
                        "proto_version",
                        protocol != null ? protocol : catalog.dictionary().serverMajor() >= 16 ? 4 : 3)
                .put("messages", settings.replication().messages().isOn());
        List<Finding> findings = new ArrayList<>(diagnosed(catalog).findings());
        findings.addAll(census.findings());
        findings.addAll(atStart);
        Finding slotFinding = ofSlot.get();
        if (slotFinding != null) {
            findings.add(slotFinding);
        }
        codes = findings.stream().map(Finding::code).distinct().toList();
        json.set("warnings", ReportJson.findings(Diagnosis.worstFirst(findings)));
        return json.toString();
    }

    @SuppressWarnings("ReferenceEquality") // another object is only looked at again
    private Diagnosed diagnosed(CatalogImage catalog) {
        Diagnosed known = diagnosed;
        if (known == null || known.catalog() != catalog) {
            known = new Diagnosed(
                    catalog,
                    Diagnosis.of(catalog, settings.tokens().allowedRoles()).findings());
            diagnosed = known;
        }
        return known;
    }

    private ObjectNode slot() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("name", settings.replication().slot().text());
        SlotStatus status = slot.get();
        if (status != null) {
            json.put("active", status.activity() == SlotStatus.Activity.ACTIVE);
            if (status.walStatus() != null) {
                json.put("wal_status", status.walStatus());
            }
            json.put("retained_bytes", status.retainedBytes());
            if (status.confirmed() != null) {
                json.put("confirmed_lsn", status.confirmed().toString());
            }
        }
        return json.put("received_lsn", received.get().toString());
    }
}
