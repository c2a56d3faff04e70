package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.probedOfTheCaller;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Lease;
import sluice.core.authorization.Rule;
import sluice.core.datum.TimeTypes;
import sluice.core.datum.ValueTypes;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.error.ErrorCode;
import sluice.core.expression.Expression;
import sluice.core.function.ComparisonKind;

/// Rules that the time alone takes away. The world begins at 2026-01-01 00:00:00 UTC.
class LeasesTest {
    private static final Expression CLOCK = new Expression.Clock(TimeTypes.TIMESTAMPTZ);
    private static final Expression OWN = new Expression.Comparison(
            ComparisonKind.EQUAL,
            new Expression.ColumnValue(2, ValueTypes.TEXT),
            new Expression.Constant(ValueTypes.TEXT, "bob"));

    private final World world = new World();

    @Test
    void a_shape_ends_at_the_time_its_policies_name() {
        world.plan = granted(leased(before("2026-01-01 00:00:10+00")));
        Received stream = world.open("s", notesShape("a"));

        world.pass(Duration.ofMillis(9_999));
        world.commit(insert("1", "bob", "x"));
        assertThat(stream.changes()).hasSize(1);
        world.pass(Duration.ofMillis(1));

        assertThat(stream.only("error")).contains("shape_not_authorized").contains("at this time");
        assertThat(world.counts.of("lease REVOKED")).isEqualTo(1);
        world.commit(insert("2", "bob", "x"));
        assertThat(stream.changes()).hasSize(1);
    }

    @Test
    void the_last_moment_of_an_inclusive_end_is_still_inside() {
        world.plan = granted(leased(new Expression.Comparison(
                ComparisonKind.LESS_OR_EQUAL,
                CLOCK,
                new Expression.Constant(TimeTypes.TIMESTAMPTZ, "2026-01-01 00:00:10+00"))));
        Received stream = world.open("s", notesShape("a"));

        world.pass(Duration.ofSeconds(10));
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
        world.pass(Duration.ofMillis(100));

        assertThat(stream.only("error")).contains("shape_not_authorized");
    }

    @Test
    void where_no_time_is_named_it_ends_with_the_lease() {
        world.plan = granted(leased(new Expression.Comparison(
                ComparisonKind.LESS,
                new Expression.TextCast(CLOCK, ValueTypes.TEXT),
                new Expression.Constant(ValueTypes.TEXT, "2026-01-01 00:00:10"))));
        Received stream = world.open("s", notesShape("a"));

        world.pass(World.LEASE.minusSeconds(1));
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
        world.pass(Duration.ofSeconds(1));

        assertThat(stream.only("error")).contains("shape_not_authorized");
    }

    @Test
    void a_time_that_is_over_is_refused_at_once() {
        world.plan = granted(leased(before("2025-12-31 23:59:59+00")));
        Received stream = world.open("s", notesShape("a"));

        assertThat(stream.frames.getFirst()).contains(ErrorCode.SHAPE_NOT_AUTHORIZED.wireName());
    }

    @Test
    void a_part_that_another_makes_up_for_takes_nothing_away() {
        world.plan = granted(leased(new Expression.Or(List.of(before("2026-01-01 00:00:10+00"), OWN))));
        Received stream = world.open("s", notesShape("a"));

        world.pass(Duration.ofMinutes(30));
        world.commit(insert("1", "bob", "x"));

        assertThat(stream.changes()).hasSize(1);
        assertThat(world.counts.of("lease HELD")).isPositive();
    }

    @Test
    void a_time_in_the_row_itself_is_nobody_s_lease() {
        Expression ofTheRow = new Expression.Comparison(
                ComparisonKind.LESS, CLOCK, new Expression.ColumnValue(3, TimeTypes.TIMESTAMPTZ));

        assertThat(Lease.of(new Expression.And(List.of(OWN, ofTheRow)))).isNull();
    }

    @Test
    void a_rule_of_the_caller_alone_is_asked_about_when_its_lease_ends_and_again_after_the_next() {
        world.plan = granted(probedOfTheCaller());
        Received stream = world.open("s", notesShape("a"));
        assertThat(world.asked(Effect.LeaseCheck.class)).isFalse();

        world.pass(World.LEASE);
        answer(new ProbeOutcome.Visible(world.stamp()));
        assertThat(world.counts.of("lease HELD")).isEqualTo(1);
        world.pass(World.LEASE.minusSeconds(1));
        assertThat(world.asked(Effect.LeaseCheck.class)).isFalse();
        world.pass(Duration.ofSeconds(1));
        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.only("error")).contains("shape_not_authorized");
        assertThat(world.counts.of("lease REVOKED")).isEqualTo(1);
    }

    @Test
    void an_answer_older_than_a_commit_takes_nothing_away() {
        world.plan = granted(probedOfTheCaller());
        Received stream = world.open("s", notesShape("a"));
        world.commit();
        world.pass(World.LEASE);
        answer(new ProbeOutcome.Hidden(world.stampBeforeLatest()));

        assertThat(world.counts.of("lease UNAVAILABLE")).isEqualTo(1);
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
        world.pass(Duration.ofSeconds(1));
        answer(new ProbeOutcome.Hidden(world.stamp()));

        assertThat(stream.only("error")).contains("shape_not_authorized");
    }

    @Test
    void without_an_answer_the_subscription_stays_and_is_asked_about_again() {
        world.plan = granted(probedOfTheCaller());
        Received stream = world.open("s", notesShape("a"));
        world.pass(World.LEASE);
        world.take(Effect.LeaseCheck.class);
        world.pass(Duration.ofSeconds(6));
        world.pass(Duration.ofSeconds(1));
        answer(new ProbeOutcome.Failed("57014"));
        world.pass(Duration.ofSeconds(1));

        assertThat(world.asked(Effect.LeaseCheck.class)).isTrue();
        assertThat(world.counts.of("lease UNAVAILABLE")).isEqualTo(2);
        assertThat(stream.frames).noneMatch(frame -> frame.startsWith("event: error"));
    }

    @Test
    void so_many_questions_are_out_and_no_more() {
        world.plan = granted(probedOfTheCaller());
        for (int i = 0; i < Leases.OUTSTANDING_MAX + 3; i++) {
            world.open("s" + i, notesShape("a"));
        }
        world.forgetEffects();
        world.pass(World.LEASE);
        List<Long> first = asked();
        assertThat(first).hasSize(Leases.OUTSTANDING_MAX);
        first.forEach(id -> world.step(new Input.LeaseAnswer(id, new ProbeOutcome.Visible(world.stamp()))));
        world.pass(Duration.ofMillis(100));

        assertThat(asked()).hasSize(3);
    }

    @Test
    void a_stream_that_has_gone_is_not_asked_about() {
        world.plan = granted(probedOfTheCaller());
        Received stream = world.open("s", notesShape("a"));
        world.hangUp(stream);
        world.pass(World.LEASE);

        assertThat(world.asked(Effect.LeaseCheck.class)).isFalse();
    }

    private List<Long> asked() {
        List<Long> ids = new ArrayList<>();
        while (world.asked(Effect.LeaseCheck.class)) {
            ids.add(world.take(Effect.LeaseCheck.class).probe().probeId());
        }
        return ids;
    }

    private void answer(ProbeOutcome outcome) {
        Effect.Probe probe = world.take(Effect.LeaseCheck.class).probe();
        assertThat(probe.sql()).isEqualTo("is_admin()");
        world.step(new Input.LeaseAnswer(probe.probeId(), outcome));
    }

    private static Expression before(String end) {
        return new Expression.Comparison(
                ComparisonKind.LESS, CLOCK, new Expression.Constant(TimeTypes.TIMESTAMPTZ, end));
    }

    private static Rule leased(Expression rule) {
        Rule own = ownedBy("bob");
        return new Rule(
                own.decision(),
                own.reason(),
                own.readsColumns(),
                Rule.Lasting.FOR_A_TIME,
                null,
                Objects.requireNonNull(Lease.of(rule)));
    }
}
