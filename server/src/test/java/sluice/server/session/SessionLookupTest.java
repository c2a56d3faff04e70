package sluice.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.RevocationList;
import sluice.core.session.Revocations.Moment;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;
import sluice.server.http.SessionCheck.Outcome;

class SessionLookupTest {
    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final List<String> rows = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong nanos = new AtomicLong();
    private final SharedRevocations revocations =
            new SharedRevocations(new RevocationList(100, 100, RevocationList.Forgotten.LOOKED_UP));

    SessionLookupTest() {
        revocations.compareAs(Objects.requireNonNull(IdType.of(new PgType.Base(Oid.TEXT, "text"))), null);
    }

    private SessionLookup lookup(SessionLookup.Question question, int atOnce) {
        return new SessionLookup(
                new SessionLookup.Questions(question, null),
                revocations,
                atOnce,
                InstantSource.fixed(NOON),
                nanos::get);
    }

    private final List<String> bans = Collections.synchronizedList(new ArrayList<>());

    /// One that looks users up too, who are called by their names.
    private SessionLookup withBans() {
        IdType names = Objects.requireNonNull(IdType.of(new PgType.Base(Oid.TEXT, "text")));
        revocations.compareAs(names, names);
        return new SessionLookup(
                new SessionLookup.Questions(
                        (type, id) -> {
                            asked.add(id);
                            return rows.contains(id);
                        },
                        (type, id) -> {
                            asked.add("ban of " + id);
                            return bans.contains(id);
                        }),
                revocations,
                2,
                InstantSource.fixed(NOON),
                nanos::get);
    }

    @Test
    void a_user_that_is_banned_is_refused_for_as_long_as_the_database_says_so_and_not_remembered() {
        rows.add("s");
        bans.add("alice");
        SessionLookup both = withBans();
        assertThat(both.ask(caller("s"))).isEqualTo(Outcome.BANNED);
        assertThat(both.mustAsk(caller("s"))).isTrue();
        assertThat(revocations.refusal(caller("s"), NOON)).isNull();

        bans.clear();
        assertThat(both.ask(caller("s"))).isEqualTo(Outcome.PRESENT);
        assertThat(both.mustAsk(caller("s"))).isFalse();
        assertThat(asked).containsExactly("s", "ban of alice", "ban of alice");
        nanos.addAndGet(Duration.ofSeconds(30).toNanos());
        assertThat(both.mustAsk(caller("s"))).isTrue();
    }

    @Test
    void a_user_without_a_session_is_looked_up_and_one_whose_session_ended_is_not() {
        SessionLookup both = withBans();
        bans.add("alice");
        assertThat(both.mustAsk(caller(null))).isTrue();
        assertThat(both.ask(caller(null))).isEqualTo(Outcome.BANNED);
        assertThat(both.ask(caller("gone"))).isEqualTo(Outcome.MISSING);
        assertThat(asked).containsExactly("ban of alice", "gone");
    }

    @Test
    void a_ban_that_the_log_told_holds_though_the_user_was_trusted() {
        SessionLookup both = withBans();
        rows.add("s");
        assertThat(both.ask(caller("s"))).isEqualTo(Outcome.PRESENT);
        revocations.banned("alice", NOON.plusSeconds(60), new Moment(new Lsn(1), NOON));
        assertThat(both.ask(caller("s"))).isEqualTo(Outcome.BANNED);
    }

    @Test
    void a_session_and_a_user_of_one_name_are_two_things() {
        SessionLookup both = withBans();
        rows.add("alice");
        bans.add("alice");
        assertThat(both.ask(caller("alice"))).isEqualTo(Outcome.BANNED);
        assertThat(both.mustAsk(caller("alice"))).isTrue();
    }

    private final SessionLookup lookup = lookup(
            (type, id) -> {
                asked.add(id);
                return rows.contains(id);
            },
            2);

    private static Identity caller(@Nullable String session) {
        return new Identity("alice", "authenticated", "{}", NOON.plusSeconds(3600), session, NOON);
    }

    @Test
    void a_session_that_is_found_is_trusted_for_half_a_minute() {
        rows.add("s");
        assertThat(lookup.mustAsk(caller("s"))).isTrue();
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.PRESENT);
        rows.clear();

        nanos.addAndGet(Duration.ofSeconds(30).toNanos() - 1);
        assertThat(lookup.mustAsk(caller("s"))).isFalse();
        nanos.addAndGet(1);
        assertThat(lookup.mustAsk(caller("s"))).isTrue();
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.MISSING);
        assertThat(asked).containsExactly("s", "s");
    }

    @Test
    void a_session_that_is_missing_is_remembered_as_revoked_and_not_asked_about_again() {
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.MISSING);
        assertThat(revocations.refusal(caller("s"), NOON.plus(Duration.ofDays(3))))
                .isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.MISSING);
        assertThat(asked).containsExactly("s");
    }

    @Test
    void a_session_missing_on_a_server_that_was_left_by_a_failover_is_asked_about_again() {
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.MISSING);
        rows.add("s");
        revocations.timelineLeft(new Lsn(0x1000));
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.PRESENT);
    }

    @Test
    void a_session_that_the_log_ended_is_missing_though_it_was_found_before() {
        rows.add("s");
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.PRESENT);
        revocations.sessionEnded("s", new Moment(new Lsn(1), NOON));
        assertThat(lookup.ask(caller("s"))).isEqualTo(Outcome.MISSING);
        assertThat(asked).hasSize(1);
    }

    @Test
    void a_token_without_a_session_is_not_asked_about() {
        assertThat(lookup.mustAsk(caller(null))).isFalse();
        assertThat(lookup.mustAsk(caller("no\0row"))).isFalse();
    }

    @Test
    void a_database_that_does_not_answer_is_no_answer_and_is_asked_again() {
        SessionLookup broken = lookup(
                (type, id) -> {
                    asked.add(id);
                    throw new IllegalStateException("no connection");
                },
                1);
        assertThat(broken.ask(caller("s"))).isEqualTo(Outcome.UNAVAILABLE);
        assertThat(broken.ask(caller("s"))).isEqualTo(Outcome.UNAVAILABLE);
        assertThat(revocations.refusal(caller("s"), NOON)).isNull();
        assertThat(asked).hasSize(2);
    }

    @Test
    void those_who_wait_for_a_turn_about_the_same_session_share_the_answer() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        SessionLookup slow = lookup(
                (type, id) -> {
                    asked.add(id);
                    begun.countDown();
                    try {
                        return answer.await(30, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                1);
        List<CompletableFuture<Outcome>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(CompletableFuture.supplyAsync(
                    () -> slow.ask(caller("s")), task -> Thread.ofVirtual().start(task)));
        }
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        answer.countDown();
        for (CompletableFuture<Outcome> one : answers) {
            assertThat(one.get(30, TimeUnit.SECONDS)).isEqualTo(Outcome.PRESENT);
        }
        assertThat(asked).containsExactly("s");
    }
}
