package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.filtered;
import static sluice.core.dispatch.World.granted;
import static sluice.core.dispatch.World.insert;
import static sluice.core.dispatch.World.notesShape;
import static sluice.core.dispatch.World.ownedBy;
import static sluice.core.dispatch.World.probed;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.authorization.Tier;
import sluice.core.diagnostics.Census;
import sluice.core.diagnostics.Finding;
import sluice.core.expression.FoldAnswer;

class CensusTest {
    private final World world = new World();

    private Census census() {
        world.forgetEffects();
        world.step(new Input.Count(7));
        Effect.Counted counted = world.take(Effect.Counted.class);
        assertThat(counted.requestId()).isEqualTo(7);
        return counted.census();
    }

    @Test
    void nothing_open_counts_nothing_and_finds_nothing() {
        Census census = census();
        assertThat(census.streams()).isZero();
        assertThat(census.subscriptions()).isZero();
        assertThat(census.findings()).isEmpty();
        assertThat(census.catalog().relations()).hasSize(1);
    }

    @Test
    void each_subscription_counts_once_whatever_its_filter_lists() {
        world.open("alice", filtered("several", "owner=in.(a,b)"));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(
                asked.questionId(), List.of(new FoldAnswer.Value("a"), new FoldAnswer.Value("b"))));
        Census census = census();
        assertThat(census.subscriptions()).isEqualTo(1);
        assertThat(census.subscriptions(Tier.A)).isEqualTo(1);
        assertThat(census.unindexed()).isZero();
    }

    @Test
    void a_shape_with_an_equality_is_no_finding() {
        world.open("alice", filtered("mine", "owner=eq.alice"));
        Effect.AskFolds asked = world.take(Effect.AskFolds.class);
        world.step(new Input.FoldsAnswer(asked.questionId(), List.of(new FoldAnswer.Value("alice"))));
        assertThat(census().subscriptions()).isEqualTo(1);
        assertThat(census().findings()).isEmpty();
    }

    @Test
    void tiers_and_shapes_without_an_equality_are_told_apart_and_forgotten_with_their_stream() {
        world.plan = granted(ownedBy("alice"));
        world.open("alice", notesShape("a"), notesShape("b"));
        world.plan = granted(probed());
        var bob = world.open("bob", notesShape("c"));
        Census census = census();
        assertThat(census.streams()).isEqualTo(2);
        assertThat(census.subscriptions()).isEqualTo(3);
        assertThat(census.subscriptions(Tier.B)).isEqualTo(2);
        assertThat(census.subscriptions(Tier.C)).isEqualTo(1);
        assertThat(census.unindexed()).isEqualTo(3);
        assertThat(census.relations()).isEqualTo(1);
        assertThat(census.findings())
                .extracting(Finding::code)
                .containsExactly("tier_c_subscriptions", "unindexed_shape");
        assertThat(census.findings().getFirst().reason()).contains("1 open subscription of Tier C");

        world.hangUp(bob);
        assertThat(census().findings()).extracting(Finding::code).containsExactly("unindexed_shape");
        assertThat(census().subscriptions(Tier.C)).isZero();
    }

    @Test
    void a_watch_that_sees_nothing_is_the_worst_finding() {
        Census census = new Census(
                census().catalog(),
                0,
                List.of(),
                new Census.Blindness("auth.sessions", "it is not published", "ALTER"));
        Finding finding = census.findings().getFirst();
        assertThat(finding.code()).isEqualTo("revocations_unseen");
        assertThat(finding.severity()).isEqualTo(Finding.Severity.HIGH);
        assertThat(finding.relation()).isEqualTo("auth.sessions");
        assertThat(finding.impact()).contains("nobody with a session or a subject is served");
    }

    @Test
    void a_commit_in_pieces_does_not_keep_the_answer_waiting() {
        world.open("alice", notesShape("a"));
        Census census = world.spilled(this::census, insert("1", "alice", "x"), insert("2", "alice", "x"));
        assertThat(census.subscriptions()).isEqualTo(1);
    }
}
