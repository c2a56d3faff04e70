package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.ClaimsDigest;
import sluice.core.session.Identity;

/// Questions about callers that PostgreSQL has been asked and not yet answered, and the answers it gave.
///
/// Folds read no table, so no commit of the log makes an answer old, and none has to be waited for: an answer stays
/// true for a caller until a function, a role or a type changes. The log does not tell of these; the catalog does,
/// within one rights poll, and {@link #forget} is called then. A question put after that is answered by a snapshot
/// at least as new as the catalog that told, and what was under way is not remembered. One question is outstanding
/// at most for each opening stream and each resolving subscription, so their bounds are this one's. Owned by the
/// engine's thread.
final class Questions {
    /// Answers kept, as long as they are short; the one unused longest goes first.
    private static final int REMEMBERED_MAX = 20_000;

    /// A longer question is a client's long literal, which nobody asks about twice.
    private static final int SQL_REMEMBERED_MAX = 4_096;

    /// Characters of all that is remembered: literals and what functions return are as long as somebody pleases.
    static final long CHARS_REMEMBERED_MAX = 16L << 20;

    /// @param claims what stands for them
    private record Remembered(String role, String claims, String sql) {
        long chars(FoldAnswer.Value answer) {
            String text = answer.text();
            return (long) claims.length() + sql.length() + (text == null ? 0 : text.length());
        }
    }

    private record Outstanding(
            Identity caller,
            List<Fold> folds,
            Memory memory,
            Instant deadline,
            long epoch,
            Consumer<@Nullable List<FoldAnswer>> then) {}

    private final EffectSink effects;
    private final Duration timeout;
    private final Map<Long, Outstanding> outstandingById = new LinkedHashMap<>();
    private final Map<Remembered, FoldAnswer.Value> answers = new LinkedHashMap<>(64, 0.75f, true);
    private long charsRemembered;
    private long lastId;
    private long epoch;

    Questions(EffectSink effects, Duration timeout) {
        this.effects = effects;
        this.timeout = timeout;
    }

    /// Whether what PostgreSQL answers is true for the next one who asks.
    enum Memory {
        KEPT,
        /// The answer may be another one a moment later, as that to `'now'::timestamptz`.
        NONE
    }

    /// Calls `then` with the answers, at once when they are known; with null when the question could not be put, or
    /// was not answered in time.
    void ask(Identity caller, List<Fold> folds, Memory memory, Instant now, Consumer<@Nullable List<FoldAnswer>> then) {
        List<FoldAnswer> known = new ArrayList<>(folds.size());
        String claims = ClaimsDigest.of(caller.claims());
        for (Fold fold : memory == Memory.KEPT ? folds : List.<Fold>of()) {
            FoldAnswer answer = answers.get(new Remembered(caller.role(), claims, fold.sql()));
            if (answer != null) {
                known.add(answer);
            }
        }
        if (known.size() == folds.size()) {
            then.accept(known);
            return;
        }
        long id = ++lastId;
        outstandingById.put(id, new Outstanding(caller, List.copyOf(folds), memory, now.plus(timeout), epoch, then));
        effects.emit(new Effect.AskFolds(id, caller, folds));
    }

    /// An answer to a question that timed out, or to none, changes nothing.
    void answered(long id, @Nullable List<FoldAnswer> given) {
        Outstanding question = outstandingById.remove(id);
        if (question == null) {
            return;
        }
        if (given == null || given.size() != question.folds().size()) {
            question.then().accept(null);
            return;
        }
        String claims = ClaimsDigest.of(question.caller().claims());
        for (int i = 0; i < given.size(); i++) {
            // what raised may have raised for a passing reason: it is asked again next time
            boolean kept = question.memory() == Memory.KEPT && question.epoch() == epoch;
            if (kept && given.get(i) instanceof FoldAnswer.Value value) {
                Fold fold = question.folds().get(i);
                if (fold.sql().length() > SQL_REMEMBERED_MAX) {
                    continue;
                }
                remember(new Remembered(question.caller().role(), claims, fold.sql()), value);
            }
        }
        question.then().accept(given);
    }

    private void remember(Remembered about, FoldAnswer.Value value) {
        FoldAnswer.Value before = answers.put(about, value);
        charsRemembered += about.chars(value) - (before == null ? 0 : about.chars(before));
        Iterator<Map.Entry<Remembered, FoldAnswer.Value>> eldest =
                answers.entrySet().iterator();
        while (answers.size() > REMEMBERED_MAX || charsRemembered > CHARS_REMEMBERED_MAX) {
            Map.Entry<Remembered, FoldAnswer.Value> gone = eldest.next();
            charsRemembered -= gone.getKey().chars(gone.getValue());
            eldest.remove();
        }
    }

    void tick(Instant now) {
        List<Long> late = new ArrayList<>(0);
        for (Map.Entry<Long, Outstanding> entry : outstandingById.entrySet()) {
            if (now.isAfter(entry.getValue().deadline())) {
                late.add(entry.getKey());
            }
        }
        for (Long id : late) {
            answered(id, null);
        }
    }

    /// Another server answers from now on: nothing remembered or under way is to be trusted.
    void abandon() {
        forget();
        List.copyOf(outstandingById.keySet()).forEach(id -> answered(id, null));
    }

    /// A function or role changed: nothing remembered is to be trusted.
    void forget() {
        answers.clear();
        charsRemembered = 0;
        // an answer on its way is older than what moved
        epoch++;
    }
}
