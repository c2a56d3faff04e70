package sluice.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.session.RevocationList.Forgotten;
import sluice.core.session.Revocations.Moment;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;

class RevocationListTest {
    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
    private static final String S1 = "11111111-0000-4000-8000-000000000001";
    private static final String S2 = "22222222-0000-4000-8000-000000000002";

    private final RevocationList list = list(100, Forgotten.REFUSED);

    static IdType type(int oid) {
        return Objects.requireNonNull(IdType.of(new PgType.Base(oid, "t")));
    }

    private static RevocationList list(int max, Forgotten forgotten) {
        RevocationList list = new RevocationList(max, max, forgotten);
        list.compareAs(type(Oid.UUID), type(Oid.TEXT));
        return list;
    }

    private static Identity caller(@Nullable String subject, @Nullable String session) {
        return caller(subject, session, NOON.minus(Duration.ofHours(1)));
    }

    private static Identity caller(@Nullable String subject, @Nullable String session, @Nullable Instant issued) {
        return new Identity(subject, "authenticated", "{}", NOON.plus(Duration.ofDays(9)), session, issued);
    }

    private static Moment at(long lsn) {
        return new Moment(new Lsn(lsn), NOON.plusSeconds(lsn));
    }

    private @Nullable Refusal refusal(Identity caller, Duration later) {
        return list.refusal(caller, NOON.plus(later));
    }

    @Test
    void a_session_that_ended_is_refused_however_its_uuid_is_spelled_and_others_are_not() {
        assertThat(refusal(caller("alice", S1), Duration.ZERO)).isNull();

        list.sessionEnded(S1, at(1));

        assertThat(refusal(caller("alice", S1), Duration.ZERO)).isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(caller("alice", "{" + S1.toUpperCase(java.util.Locale.ROOT) + "}"), Duration.ZERO))
                .isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(caller("alice", S2), Duration.ZERO)).isNull();
        assertThat(refusal(caller("alice", null), Duration.ZERO)).isNull();
    }

    @Test
    void a_session_that_ended_is_remembered_for_as_long_as_a_token_of_it_may_be_good() {
        list.sessionEnded(S1, at(1));

        assertThat(refusal(caller("alice", S1), Duration.ofHours(3))).isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(caller("alice", S1), Duration.ofDays(8))).isEqualTo(Refusal.SESSION_REVOKED);
    }

    @Test
    void an_id_that_no_row_can_have_is_refused_as_missing() {
        assertThat(refusal(caller("alice", "not-a-uuid"), Duration.ZERO)).isEqualTo(Refusal.SESSION_UNREADABLE);
        list.compareAs(null, null);
        assertThat(refusal(caller("alice", S1), Duration.ZERO)).isEqualTo(Refusal.SESSION_UNREADABLE);
    }

    @Test
    void texts_and_subjects_keep_their_case() {
        list.compareAs(type(Oid.TEXT), type(Oid.TEXT));
        list.sessionEnded("Ab", at(1));
        list.banned("Alice", BanTime.FOREVER, at(1));

        assertThat(refusal(caller("bob", "Ab"), Duration.ZERO)).isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(caller("bob", "ab"), Duration.ZERO)).isNull();
        assertThat(refusal(caller("Alice", null), Duration.ZERO)).isEqualTo(Refusal.USER_BANNED);
        assertThat(refusal(caller("alice", null), Duration.ZERO)).isNull();
    }

    @Test
    void a_ban_holds_until_its_moment_and_not_at_it() {
        list.banned("alice", NOON.plusSeconds(60), at(1));

        assertThat(refusal(caller("alice", S1), Duration.ofSeconds(59))).isEqualTo(Refusal.USER_BANNED);
        assertThat(refusal(caller("alice", S1), Duration.ofSeconds(60))).isNull();
        assertThat(refusal(caller("bob", S1), Duration.ofSeconds(59))).isNull();
    }

    @Test
    void lifting_a_ban_ends_it_and_a_session_that_ended_stays_ended() {
        list.banned("alice", BanTime.FOREVER, at(1));
        list.sessionEnded(S1, at(2));

        list.unbanned("alice", at(3));

        assertThat(refusal(caller("alice", S2), Duration.ZERO)).isNull();
        assertThat(refusal(caller("alice", S1), Duration.ZERO)).isEqualTo(Refusal.SESSION_REVOKED);
    }

    @Test
    void a_subject_that_cannot_be_a_user_cannot_be_banned() {
        list.compareAs(type(Oid.UUID), type(Oid.UUID));
        list.banned(S1, BanTime.FOREVER, at(1));

        assertThat(refusal(caller("machine-7", null), Duration.ZERO)).isNull();
        assertThat(refusal(caller(S1.replace("-", ""), null), Duration.ZERO)).isEqualTo(Refusal.USER_BANNED);
    }

    @Test
    void a_session_forgotten_for_lack_of_room_refuses_the_tokens_issued_before_it_ended() {
        RevocationList small = list(1, Forgotten.REFUSED);
        Instant before = NOON.minusSeconds(5);
        Instant after = NOON.plus(RevocationList.CLOCKS_APART).plusSeconds(2);
        small.sessionEnded(S1, at(1));
        assertThat(small.refusal(caller("alice", S2, before), NOON)).isNull();

        small.sessionEnded(S2, at(2));

        assertThat(small.size()).isEqualTo(1);
        assertThat(small.refusal(caller("alice", S1, before), NOON)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(small.refusal(caller("alice", S1, null), NOON)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(small.refusal(caller("alice", "3" + S1.substring(1), after), NOON))
                .isNull();
        assertThat(small.refusal(caller("alice", null, null), NOON)).isNull();
    }

    @Test
    void where_sessions_are_looked_up_a_forgotten_one_is_refused_only_while_an_answer_may_be_older() {
        RevocationList small = list(1, Forgotten.LOOKED_UP);
        small.sessionEnded(S1, at(1));
        small.sessionEnded(S2, at(2));
        Instant forgotten = at(1).time();

        assertThat(small.refusal(caller("alice", S1), forgotten.plus(RevocationList.LOOKUPS_TRUSTED)))
                .isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(small.refusal(
                        caller("alice", S1),
                        forgotten.plus(RevocationList.LOOKUPS_TRUSTED).plusNanos(1)))
                .isNull();
        assertThat(small.refusal(caller("alice", S2), NOON.plus(Duration.ofDays(1))))
                .isEqualTo(Refusal.SESSION_REVOKED);
    }

    @Test
    void when_every_session_ended_a_token_issued_since_is_good() {
        list.everySessionEnded(at(5));

        assertThat(refusal(caller("alice", S1), Duration.ZERO)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(refusal(caller("alice", S1, NOON.plusSeconds(100)), Duration.ZERO))
                .isNull();
    }

    @Test
    void a_ban_forgotten_for_lack_of_room_refuses_the_tokens_issued_before_it() {
        RevocationList small = list(1, Forgotten.LOOKED_UP);
        small.banned("alice", BanTime.FOREVER, at(1));
        small.banned("bob", BanTime.FOREVER, at(2));

        assertThat(small.refusal(caller("alice", null), NOON)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(small.refusal(caller("alice", null, NOON.plusSeconds(100)), NOON))
                .isNull();
        assertThat(small.refusal(caller("bob", null), NOON)).isEqualTo(Refusal.USER_BANNED);
    }

    @Test
    void a_ban_that_is_over_makes_room_and_refuses_nobody() {
        RevocationList small = list(1, Forgotten.REFUSED);
        small.banned("alice", NOON, at(1));
        small.banned("bob", BanTime.FOREVER, at(2));

        assertThat(small.refusal(caller("carol", null), NOON)).isNull();
    }

    @Test
    void what_a_failover_undid_is_as_if_it_never_was() {
        list.sessionEnded(S1, at(1));
        list.banned("alice", BanTime.FOREVER, at(1));
        list.banned("bob", NOON.plusSeconds(500), at(2));
        list.sessionEnded(S2, at(11));
        list.unbanned("alice", at(12));
        list.banned("bob", BanTime.FOREVER, at(13));
        list.banned("carol", BanTime.FOREVER, at(14));

        list.timelineLeft(new Lsn(10));

        assertThat(refusal(caller("dave", S1), Duration.ZERO)).isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(caller("dave", S2), Duration.ZERO)).isNull();
        assertThat(refusal(caller("alice", null), Duration.ZERO)).isEqualTo(Refusal.USER_BANNED);
        assertThat(refusal(caller("bob", null), Duration.ofSeconds(499))).isEqualTo(Refusal.USER_BANNED);
        assertThat(refusal(caller("bob", null), Duration.ofSeconds(500))).isNull();
        assertThat(refusal(caller("carol", null), Duration.ZERO)).isNull();
    }
}
