package sluice.core.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.HookVerdicts.Known;
import sluice.core.stream.ChannelSubscription;

class HookVerdictsTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final HookKey KEY = key("team:1");

    private final HookVerdicts verdicts = new HookVerdicts();

    @Test
    void an_answer_stands_for_its_validity_shortened_by_up_to_a_fifth() {
        verdicts.answered(KEY, allow(60), 1, 0, NOW);
        assertThat(verdicts.standing(KEY, NOW.plusSeconds(60).minusNanos(1))).isNotNull();
        assertThat(verdicts.standing(KEY, NOW.plusSeconds(60))).isNull();

        verdicts.answered(KEY, allow(60), 2, 1, NOW);
        assertThat(verdicts.standing(KEY, NOW.plusSeconds(48).minusNanos(1))).isNotNull();
        assertThat(verdicts.standing(KEY, NOW.plusSeconds(48))).isNull();
    }

    @Test
    void a_verdict_without_validity_answers_no_other_join() {
        verdicts.answered(KEY, allow(0), 1, 0.5, NOW);

        assertThat(verdicts.standing(KEY, NOW)).isNull();
    }

    @Test
    void no_verdict_is_remembered_for_two_seconds_and_the_client_told_to_wait_as_long() {
        Known none = verdicts.answered(KEY, HookAnswer.none("timeout"), 1, 1, NOW);

        assertThat(verdicts.standing(KEY, NOW.plusMillis(1999))).isNotNull();
        assertThat(verdicts.standing(KEY, NOW.plusSeconds(2))).isNull();
        assertThat(none.retryAfterMillis(NOW)).isEqualTo(5000);
        Known soon = verdicts.answered(KEY, HookAnswer.none("timeout"), 2, 0, NOW);
        assertThat(soon.retryAfterMillis(NOW)).isGreaterThan(2000).isLessThanOrEqualTo(2001);
        assertThat(soon.retryAfterMillis(NOW.plusMillis(1900))).isEqualTo(1000);
    }

    @Test
    void an_earlier_question_answered_late_changes_nothing() {
        verdicts.answered(KEY, deny(), 2, 0, NOW);

        assertThat(verdicts.answered(KEY, allow(60), 1, 0, NOW).verdict()).isEqualTo(Verdict.DENY);
        assertThat(verdicts.standing(KEY, NOW)).extracting(Known::verdict).isEqualTo(Verdict.DENY);
    }

    @Test
    void a_join_is_due_when_its_verdict_has_run_out_and_not_before() {
        ChannelSubscription join = ChannelStreams.join("a", "alice", "team:1");
        verdicts.hold(join, KEY, NOW.plusSeconds(60));

        assertThat(verdicts.due(NOW.plusSeconds(59))).isEmpty();
        assertThat(verdicts.due(NOW.plusSeconds(60))).containsExactly(KEY);

        verdicts.answered(KEY, allow(60), 1, 0, NOW.plusSeconds(60));
        assertThat(verdicts.due(NOW.plusSeconds(119))).isEmpty();
    }

    @Test
    void no_verdict_keeps_the_join_and_its_being_due() {
        ChannelSubscription join = ChannelStreams.join("a", "alice", "team:1");
        verdicts.hold(join, KEY, NOW);

        verdicts.answered(KEY, HookAnswer.none("timeout"), 1, 0, NOW);

        assertThat(verdicts.due(NOW)).containsExactly(KEY);
        assertThat(verdicts.joins(KEY)).containsExactly(join);
    }

    @Test
    void one_question_serves_all_joins_of_a_key() {
        ChannelSubscription first = ChannelStreams.join("a1", "alice", "team:1");
        ChannelSubscription second = ChannelStreams.join("a2", "alice", "team:1");
        verdicts.hold(first, KEY, NOW);
        verdicts.hold(second, KEY, NOW.plusSeconds(60));

        assertThat(verdicts.due(NOW)).containsExactly(KEY);
        assertThat(verdicts.joins(KEY)).containsExactly(first, second);

        verdicts.release(first);
        verdicts.release(second);
        assertThat(verdicts.due(NOW)).isEmpty();
    }

    @Test
    void a_join_that_moves_to_another_key_lives_on_that_alone() {
        ChannelSubscription join = ChannelStreams.join("a", "alice", "team:1");
        HookKey other = key("team:2");
        verdicts.hold(join, KEY, NOW);
        verdicts.hold(join, other, NOW.plusSeconds(5));

        assertThat(verdicts.joins(KEY)).isEmpty();
        assertThat(verdicts.due(NOW)).isEmpty();
        assertThat(verdicts.key(join)).isEqualTo(other);
    }

    @Test
    void what_is_remembered_is_bounded_and_costs_no_join() {
        ChannelSubscription join = ChannelStreams.join("a", "alice", "team:1");
        verdicts.answered(KEY, allow(60), 1, 0, NOW);
        verdicts.hold(join, KEY, NOW.plusSeconds(60));
        for (int i = 0; i < HookVerdicts.REMEMBERED_MAX; i++) {
            verdicts.answered(key("team:x" + i), allow(60), 2 + i, 0, NOW);
        }

        assertThat(verdicts.rememberedCount()).isEqualTo(HookVerdicts.REMEMBERED_MAX);
        assertThat(verdicts.standing(KEY, NOW)).isNull();
        assertThat(verdicts.joins(KEY)).containsExactly(join);
        assertThat(verdicts.due(NOW)).isEmpty();
    }

    private static HookKey key(String channel) {
        return HookKey.of("http://localhost/hook", channel, ChannelStreams.caller("alice"));
    }

    private static HookAnswer allow(int seconds) {
        return new HookAnswer(Verdict.ALLOW, Duration.ofSeconds(seconds), null);
    }

    private static HookAnswer deny() {
        return new HookAnswer(Verdict.DENY, Duration.ofSeconds(60), null);
    }
}
