package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.channel.HookKey;
import sluice.core.channel.Namespace;
import sluice.core.channel.Namespaces;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.value.Oid;

/// What is remembered of callers has a bound in bytes, whatever they send.
class QuestionsTest {
    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    private final Deque<Effect> effects = new ArrayDeque<>();
    private final Questions questions = new Questions(effects::add, Duration.ofSeconds(5));

    private static Identity caller(String claims) {
        return new Identity("alice", "authenticated", claims, NOON.plusSeconds(3600));
    }

    /// Whether PostgreSQL had to be asked, and says this.
    private boolean asked(Identity caller, String sql, String answer) {
        List<FoldAnswer> told = new ArrayList<>();
        questions.ask(caller, List.of(new Fold(sql, Oid.TEXT)), Questions.Memory.KEPT, NOON, answers -> {
            if (answers != null) {
                told.addAll(answers);
            }
        });
        boolean asked = effects.poll() instanceof Effect.AskFolds(var id, var _, var _)
                && answered(id, new FoldAnswer.Value(answer));
        assertThat(told).containsExactly(new FoldAnswer.Value(answer));
        return asked;
    }

    private boolean answered(long id, FoldAnswer answer) {
        questions.answered(id, List.of(answer));
        return true;
    }

    @Test
    void an_answer_is_remembered_for_the_same_claims_and_for_no_others() {
        assertThat(asked(caller("{\"v\":1}"), "f()", "one")).isTrue();
        assertThat(asked(caller("{\"v\":1}"), "f()", "one")).isFalse();
        assertThat(asked(caller("{\"v\":2}"), "f()", "two")).isTrue();
        assertThat(asked(caller("{\"v\":1}"), "f()", "one")).isFalse();
    }

    @Test
    void long_literals_and_answers_push_out_what_was_unused_longest() {
        Identity caller = caller("{}");
        String literal = "x".repeat(4000);
        assertThat(asked(caller, "first", "first")).isTrue();
        assertThat(asked(caller, "used", "used")).isTrue();
        long entries = Questions.CHARS_REMEMBERED_MAX / literal.length() / 2;
        for (long i = 0; i < entries; i++) {
            assertThat(asked(caller, i + literal.substring(10), literal)).isTrue();
            assertThat(asked(caller, "used", "used")).isFalse();
        }

        assertThat(asked(caller, "first", "first")).isTrue();
        assertThat(asked(caller, (entries - 1) + literal.substring(10), literal))
                .isFalse();
    }

    @Test
    void claims_of_any_length_make_no_longer_key_of_a_hook() {
        Namespaces namespaces =
                new Namespaces(List.of(new Namespace("team", new Namespace.Admission.Hook("http://hook.example"))));
        List<HookKey> keys = new ArrayList<>();
        for (String claims :
                List.of("{\"c\":\"" + "x".repeat(16_000) + "1\"}", "{\"c\":\"" + "x".repeat(16_000) + "2\"}")) {
            if (namespaces.decide("team:1", caller(claims)) instanceof Namespaces.Decision.Ask(var key)) {
                keys.add(key);
            }
        }
        assertThat(keys)
                .hasSize(2)
                .doesNotHaveDuplicates()
                .allMatch(key -> key.session().length() < 100);
    }
}
