package sluice.server.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.CatalogScope;
import sluice.core.channel.HookAnswer.Verdict;
import sluice.core.channel.HookQuestion;
import sluice.core.channel.Namespace;
import sluice.core.channel.Namespaces;
import sluice.core.dispatch.Effect;
import sluice.core.dispatch.Input;
import sluice.core.dispatch.Input.ProbeOutcome;
import sluice.core.dispatch.Notice;
import sluice.core.event.EventBody;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.session.Identity;
import sluice.core.snapshot.SnapshotOutcome;
import sluice.core.snapshot.SnapshotSpool;
import sluice.core.value.Oid;

/// Whoever asks is answered, also where memory ran out over the question.
class RunnersTest {
    private static final Identity ALICE =
            new Identity("alice", "authenticated", "{}", Instant.parse("2030-01-01T00:00:00Z"));

    private final BlockingQueue<Input> answers = new LinkedBlockingQueue<>();

    /// Asks for more memory than there is, whatever it is asked.
    private static final class Starved implements Database, Snapshots {
        private static OutOfMemoryError none() {
            return new OutOfMemoryError("none left");
        }

        @Override
        public CatalogImage load(CatalogScope scope) {
            throw none();
        }

        @Override
        public Input.RightsAnswer pollRights() {
            throw none();
        }

        @Override
        public List<FoldAnswer> fold(Identity caller, List<Fold> folds) {
            throw none();
        }

        @Override
        public ProbeOutcome probe(Effect.Probe probe) {
            throw none();
        }

        @Override
        public void moveLog() {
            throw none();
        }

        @Override
        public SnapshotOutcome read(Effect.ReadSnapshot request) {
            throw none();
        }

        @Override
        public List<EventBody> take(SnapshotSpool spool, int rowsMax, long bytesMax) {
            throw none();
        }

        @Override
        public void drop(SnapshotSpool spool) {
            throw none();
        }
    }

    private EffectRunner effects() {
        return effects(_ -> {});
    }

    private EffectRunner effects(Consumer<Notice> log) {
        Starved starved = new Starved();
        return new EffectRunner(
                new EffectRunner.Sources(starved, starved),
                new EffectRunner.Limits(2, 1),
                new EffectRunner.Targets(
                        new WalInbox(1, () -> {}),
                        answers::add,
                        log,
                        catalog -> {},
                        counted -> {},
                        answered -> {},
                        asked -> {}));
    }

    private @Nullable Input answer() throws InterruptedException {
        return answers.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void questions_to_the_database_are_answered_for_want_of_memory_too() throws Exception {
        EffectRunner effects = effects();
        try {
            effects.emit(new Effect.PollRights());
            assertThat(answer()).isEqualTo(new Input.RightsAnswer(null));
            effects.emit(new Effect.LoadCatalog(1, new CatalogScope.Everything()));
            assertThat(answer()).isEqualTo(new Input.CatalogAnswer(1, null));
            effects.emit(new Effect.AskFolds(2, ALICE, List.of(new Fold("now()", Oid.TEXT))));
            assertThat(answer()).isEqualTo(new Input.FoldsAnswer(2, null));
            effects.emit(new Effect.TakeRows(3, new SnapshotSpool() {}, 1, 1));
            assertThat(answer()).isInstanceOf(Input.SnapshotRead.class);
        } finally {
            effects.close();
        }
    }

    @Test
    void whoever_asks_is_answered_though_there_is_no_memory_to_tell_of_it_either() throws Exception {
        EffectRunner effects = effects(_ -> {
            throw Starved.none();
        });
        try {
            effects.emit(new Effect.PollRights());
            assertThat(answer()).isEqualTo(new Input.RightsAnswer(null));
            effects.emit(new Effect.LoadCatalog(1, new CatalogScope.Everything()));
            assertThat(answer()).isEqualTo(new Input.CatalogAnswer(1, null));
        } finally {
            effects.close();
        }
    }

    @Test
    void a_hook_is_answered_for_and_its_place_is_free_again_for_want_of_memory_too() throws Exception {
        Namespaces namespaces =
                new Namespaces(List.of(new Namespace("team", new Namespace.Admission.Hook("http://hook.example"))));
        HookQuestion question = switch (namespaces.decide("team:1", ALICE)) {
            case Namespaces.Decision.Ask(var key) -> new HookQuestion(key, ALICE, null);
            case Namespaces.Decision.Admitted() -> throw new AssertionError("nobody was asked");
        };
        try (HookRunner hooks = new HookRunner(
                asked -> {
                    throw new OutOfMemoryError("none left");
                },
                Duration.ofSeconds(20),
                RandomGenerator.getDefault(),
                answers::add)) {
            for (int i = 0; i < 40; i++) {
                hooks.accept(new Effect.AskHook(i, question));
            }
            for (int i = 0; i < 40; i++) {
                assertThat(answer())
                        .isInstanceOfSatisfying(
                                Input.HookAnswered.class,
                                answered ->
                                        assertThat(answered.answer().verdict()).isEqualTo(Verdict.NONE));
            }
        }
    }
}
