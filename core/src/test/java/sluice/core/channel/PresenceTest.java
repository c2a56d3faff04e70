package sluice.core.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.stream.ChannelSubscription;

class PresenceTest {
    private static final Duration EVERY = Duration.ofMillis(1500);

    private final ChannelIndex channels = new ChannelIndex(EVERY, 3);
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void a_key_stays_with_the_meta_of_a_live_stream_until_the_last_one_leaves() {
        ChannelSubscription first = join("a1", "alice");
        ChannelSubscription second = join("a2", "alice");
        ChannelSubscription bob = join("b", "bob");
        track(first, "{\"tab\":1}");
        track(second, "{\"tab\":2}");
        assertThat(diff(bob).at("/joins/alice/meta/tab").intValue()).isEqualTo(2);

        channels.leave(second, now);
        JsonNode afterSecond = diff(bob);
        assertThat(afterSecond.at("/joins/alice/meta/tab").intValue()).isEqualTo(1);
        assertThat(afterSecond.has("leaves")).isFalse();

        channels.leave(first, now);
        JsonNode afterFirst = diff(bob);
        assertThat(afterFirst.at("/leaves/alice/meta/tab").intValue()).isEqualTo(1);
        assertThat(afterFirst.has("joins")).isFalse();
        assertThat(afterFirst.at("/leaves/alice").has("since")).isFalse();
    }

    @Test
    void an_older_stream_that_ends_changes_nothing_of_what_is_shown() {
        ChannelSubscription ghost = join("a1", "alice");
        ChannelSubscription bob = join("b", "bob");
        track(ghost, "1");
        diff(bob);
        ChannelSubscription again = join("a2", "alice");
        track(again, "2");
        assertThat(diff(bob).at("/joins/alice/meta").intValue()).isEqualTo(2);

        channels.leave(ghost, now);

        assertThat(diffs(bob)).isEmpty();
        assertThat(state(bob).at("/members/alice/meta").intValue()).isEqualTo(2);
    }

    @Test
    void untrack_of_a_stream_without_an_entry_removes_nobody_elses() {
        ChannelSubscription first = join("a1", "alice");
        ChannelSubscription second = join("a2", "alice");
        track(first, "1");
        diff(second);

        channels.untrack("alice", second, now);

        assertThat(diffs(first)).isEmpty();
        assertThat(state(second).at("/members").has("alice")).isTrue();
    }

    @Test
    void what_happens_within_one_interval_is_one_difference() {
        ChannelSubscription alice = join("a", "alice");
        ChannelSubscription bob = join("b", "bob");
        track(alice, "1");
        channels.untrack("alice", alice, now);
        track(alice, "2");
        for (int i = 3; i <= 50; i++) {
            track(alice, String.valueOf(i));
        }

        List<JsonNode> diffs = diffs(bob);

        assertThat(diffs).hasSize(1);
        assertThat(diffs.getFirst().at("/joins/alice/meta").intValue()).isEqualTo(50);
        assertThat(diffs.getFirst().has("leaves")).isFalse();
    }

    @Test
    void a_key_that_came_and_went_within_one_interval_is_told_as_a_leave_alone() {
        ChannelSubscription alice = join("a", "alice");
        ChannelSubscription bob = join("b", "bob");
        track(alice, "1");
        assertThat(state(bob).at("/members").has("alice")).isTrue();
        channels.untrack("alice", alice, now);

        JsonNode diff = diff(bob);

        assertThat(diff.has("joins")).isFalse();
        assertThat(diff.at("/leaves").has("alice")).isTrue();
    }

    @Test
    void a_difference_waits_for_its_interval_and_not_longer() {
        ChannelSubscription alice = join("a", "alice");
        track(alice, "1");
        List<JsonNode> told = new ArrayList<>();
        now = now.plus(EVERY).minusNanos(1);
        channels.diffs(now, (to, event) -> told.add(ChannelStreams.read(to, event)));
        assertThat(told).isEmpty();

        now = now.plusNanos(1);
        channels.diffs(now, (to, event) -> told.add(ChannelStreams.read(to, event)));
        assertThat(told).hasSize(1);
    }

    @Test
    void since_is_when_the_key_came_and_ref_tells_its_values_apart() {
        ChannelSubscription alice = join("a", "alice");
        Instant came = now;
        track(alice, "1");
        JsonNode first = diff(alice);
        track(alice, "2");
        JsonNode second = diff(alice);

        assertThat(first.at("/joins/alice/since").textValue()).isEqualTo(came.toString());
        assertThat(second.at("/joins/alice/since").textValue()).isEqualTo(came.toString());
        assertThat(second.at("/joins/alice/ref")).isNotEqualTo(first.at("/joins/alice/ref"));
    }

    @Test
    void a_new_key_past_the_limit_is_refused_and_known_keys_are_not() {
        ChannelSubscription alice = join("a", "alice");
        track(alice, "1");
        track(join("b", "bob"), "1");
        ChannelSubscription carol = join("c", "carol");
        track(carol, "1");
        diff(alice);
        ChannelSubscription dave = join("d", "dave");

        assertThatExceptionOfType(RequestException.class)
                .isThrownBy(() -> track(dave, "1"))
                .satisfies(refused -> assertThat(refused.code()).isEqualTo(ErrorCode.PRESENCE_TOO_MANY_KEYS));
        assertThat(diffs(alice)).isEmpty();

        track(join("a2", "alice"), "2");
        channels.leave(carol, now);
        track(dave, "1");
        assertThat(names(state(alice))).containsExactlyInAnyOrder("alice", "bob", "dave");
    }

    @Test
    void a_state_without_anybody_has_no_members() {
        assertThat(state(join("a", "alice")).has("members")).isFalse();
    }

    @Test
    void a_member_without_meta_has_none() {
        ChannelSubscription alice = join("a", "alice");
        channels.track("alice", alice, null, now);

        assertThat(state(alice).at("/members/alice").has("meta")).isFalse();
    }

    @Test
    void other_channels_are_told_nothing() {
        ChannelSubscription elsewhere = ChannelStreams.join("e", "eve", "room:2");
        channels.join(elsewhere);
        track(join("a", "alice"), "1");

        assertThat(diffs(elsewhere)).isEmpty();
        assertThat(state(elsewhere).has("members")).isFalse();
    }

    @Test
    void nothing_is_kept_of_a_channel_that_nobody_is_in() {
        ChannelSubscription alice = join("a", "alice");
        track(alice, "1");
        channels.leave(alice, now);

        assertThat(channels.channelCount()).isZero();
        assertThat(state(join("b", "bob")).has("members")).isFalse();
    }

    private ChannelSubscription join(String streamId, @Nullable String subject) {
        ChannelSubscription joined = ChannelStreams.join(streamId, subject, "room:1");
        channels.join(joined);
        return joined;
    }

    private void track(ChannelSubscription by, String meta) {
        channels.track(
                String.valueOf(by.stream().identity().subject()), by, meta.getBytes(StandardCharsets.UTF_8), now);
    }

    private JsonNode state(ChannelSubscription subscription) {
        return ChannelStreams.read(subscription, channels.state(subscription));
    }

    private JsonNode diff(ChannelSubscription subscription) {
        List<JsonNode> diffs = diffs(subscription);
        assertThat(diffs).hasSize(1);
        return diffs.getFirst();
    }

    private List<JsonNode> diffs(ChannelSubscription subscription) {
        now = now.plus(EVERY);
        List<JsonNode> diffs = new ArrayList<>();
        channels.diffs(now, (to, event) -> {
            if (to == subscription) {
                diffs.add(ChannelStreams.read(to, event));
            }
        });
        return diffs;
    }

    private static Set<String> names(JsonNode state) {
        Set<String> names = new LinkedHashSet<>();
        state.path("members").fieldNames().forEachRemaining(names::add);
        return names;
    }
}
