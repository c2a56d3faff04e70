package sluice.core.dispatch;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.HookAnswer;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.HookKey;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.HookVerdicts;
import sluice.core.channel.HookVerdicts.Known;
import sluice.core.session.Identity;
import sluice.core.stream.ChannelSubscription;

/// Asks hooks who may join, and again once a verdict has run out. Owned by the engine's thread.
///
/// A join waits for its answer; nothing else does. Every question is answered in bounded time by whoever puts it, and
/// there are at most so many; past that a join is told that there is no verdict. Verdicts are looked at once every
/// refresh of the catalog, one round at a time, with few calls at once, each for all joins that live on it.
final class HookDesk {
    static final int RECHECKS_AT_ONCE = 16;
    static final int QUESTIONS_MAX = 10_000;

    /// What an answer means for joins.
    interface Host {
        /// The endpoint denied: the join is over.
        void revoke(ChannelSubscription join, @Nullable String reason);

        EngineMetrics metrics();

        Instant now();
    }

    private enum Purpose {
        JOIN,
        RECHECK
    }

    private record Asked(HookQuestion question, Purpose purpose, List<Consumer<Known>> waiting) {}

    private final Host host;
    private final EffectSink effects;
    private final Duration recheckEvery;
    private final HookVerdicts verdicts = new HookVerdicts();
    private final Map<Long, Asked> questions = new LinkedHashMap<>();

    /// The latest question about each key that is not answered.
    private final Map<HookKey, Long> underWay = new LinkedHashMap<>();

    /// The question about each key that was put whatever stood, until it is answered.
    private final Map<HookKey, Long> afresh = new LinkedHashMap<>();

    /// What is asked afresh about a key while it is being asked so already: once, for whoever came last.
    private final Map<HookKey, Asked> next = new LinkedHashMap<>();

    private final ArrayDeque<HookKey> round = new ArrayDeque<>();
    private int rechecking;
    private long lastQuestion;
    private Instant nextRound = Instant.MIN;

    HookDesk(Host host, EffectSink effects, Duration recheckEvery) {
        this.host = host;
        this.effects = effects;
        this.recheckEvery = recheckEvery;
    }

    HookVerdicts verdicts() {
        return verdicts;
    }

    /// A verdict for a new join: what stands, or what a question about it brings.
    void ask(HookQuestion question, Consumer<Known> then) {
        Known standing = verdicts.standing(question.key(), host.now());
        if (standing != null) {
            then.accept(standing);
            return;
        }
        Long same = underWay.get(question.key());
        Asked asked = same == null ? null : questions.get(same);
        if (asked != null) {
            asked.waiting().add(then);
            return;
        }
        if (hasRoom(then)) {
            long _ = put(question, Purpose.JOIN, waiting(then));
        }
    }

    /// A verdict asked for from now on, whatever stands or is under way. However often that is wanted of a key, one
    /// such question is out at a time: whoever comes meanwhile waits for the next.
    void askAfresh(HookQuestion question, Consumer<Known> then) {
        HookKey key = question.key();
        if (afresh.containsKey(key)) {
            Asked before = next.get(key);
            List<Consumer<Known>> waiting = before == null ? new ArrayList<>(1) : before.waiting();
            waiting.add(then);
            next.put(key, new Asked(question, Purpose.JOIN, waiting));
        } else if (hasRoom(then)) {
            afresh.put(key, put(question, Purpose.JOIN, waiting(then)));
        }
    }

    private static List<Consumer<Known>> waiting(Consumer<Known> then) {
        List<Consumer<Known>> waiting = new ArrayList<>(1);
        waiting.add(then);
        return waiting;
    }

    /// Tells whoever asks that there is no verdict when there is no room for the question.
    private boolean hasRoom(Consumer<Known> then) {
        if (questions.size() < QUESTIONS_MAX) {
            return true;
        }
        Instant until = host.now().plus(HookAnswer.NO_VERDICT_VALID_FOR);
        then.accept(new Known(Verdict.NONE, "too many questions are unanswered", until, 0, 1));
        return false;
    }

    private long put(HookQuestion question, Purpose purpose, List<Consumer<Known>> waiting) {
        long id = ++lastQuestion;
        questions.put(id, new Asked(question, purpose, waiting));
        underWay.put(question.key(), id);
        effects.emit(new Effect.AskHook(id, question));
        return id;
    }

    /// @param random from 0 to 1
    void answered(long id, HookAnswer answer, double random) {
        Asked asked = questions.remove(id);
        if (asked == null) {
            return;
        }
        HookKey key = asked.question().key();
        underWay.remove(key, id);
        Asked later = afresh.remove(key, id) ? next.remove(key) : null;
        if (later != null) {
            afresh.put(key, put(later.question(), Purpose.JOIN, later.waiting()));
        }
        Known known = verdicts.answered(key, answer, id, random, host.now());
        List<ChannelSubscription> joins = verdicts.joins(key);
        if (known.verdict() == Verdict.DENY) {
            for (ChannelSubscription join : joins) {
                host.revoke(join, known.reason());
            }
        }
        if (asked.purpose() == Purpose.RECHECK) {
            host.metrics().hookRechecked(recheck(known.verdict()), joins.size());
            rechecking--;
            pump();
        }
        for (Consumer<Known> then : asked.waiting()) {
            then.accept(known);
        }
    }

    static EngineMetrics.HookRecheck recheck(Verdict verdict) {
        return switch (verdict) {
            case ALLOW -> EngineMetrics.HookRecheck.HELD;
            case DENY -> EngineMetrics.HookRecheck.REVOKED;
            case NONE -> EngineMetrics.HookRecheck.UNAVAILABLE;
        };
    }

    void tick() {
        Instant now = host.now();
        if (now.isBefore(nextRound)) {
            return;
        }
        nextRound = now.plus(recheckEvery);
        if (round.isEmpty() && rechecking == 0) {
            round.addAll(verdicts.due(now));
        }
        pump();
    }

    private void pump() {
        while (rechecking < RECHECKS_AT_ONCE && !round.isEmpty()) {
            HookKey key = round.removeFirst();
            Identity caller = latest(verdicts.joins(key));
            // a join made meanwhile may have brought a new verdict, or everybody may have left
            if (caller != null && verdicts.isDue(key, host.now())) {
                rechecking++;
                long _ = put(new HookQuestion(key, caller, null), Purpose.RECHECK, new ArrayList<>(0));
            }
        }
    }

    /// Whoever holds the latest token of those who share a verdict.
    private static @Nullable Identity latest(List<ChannelSubscription> joins) {
        return joins.stream()
                .map(join -> join.stream().identity())
                .max(Comparator.comparing(Identity::expiresAt))
                .orElse(null);
    }
}
