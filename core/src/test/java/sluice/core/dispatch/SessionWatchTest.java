package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.core.dispatch.World.NOT_SENT;
import static sluice.core.dispatch.World.tuple;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import sluice.core.catalog.CatalogImage;
import sluice.core.catalog.Column;
import sluice.core.catalog.Operator;
import sluice.core.catalog.PublishedTable;
import sluice.core.catalog.Relation;
import sluice.core.catalog.ReplicaIdentity;
import sluice.core.catalog.Stamp;
import sluice.core.diagnostics.Census;
import sluice.core.error.ErrorCode;
import sluice.core.pgoutput.RelationDefinition;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.RevocationList;
import sluice.core.session.RevocationTables;
import sluice.core.stream.CloseReason;
import sluice.core.stream.StreamState;
import sluice.core.transaction.Change;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;
import sluice.core.wal.TransactionSnapshot;

class SessionWatchTest {
    static final int SESSIONS = 17_001;
    static final int USERS = 17_002;
    private static final String S1 = "11111111-0000-4000-8000-000000000001";
    private static final String S2 = "22222222-0000-4000-8000-00000000000b";
    private static final String ALICE = "aaaaaaaa-0000-4000-8000-000000000001";
    private static final String BOB = "bbbbbbbb-0000-4000-8000-000000000002";
    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
    static final RevocationTables TABLES = new RevocationTables(
            new RevocationTables.Table("auth", "sessions"),
            new RevocationTables.Table("auth", "users"),
            "banned_until");
    static final RelationDefinition SESSIONS_DEFINITION = definition(SESSIONS, "sessions", Oid.UUID, "user_id");
    static final RelationDefinition USERS_DEFINITION = definition(USERS, "users", Oid.UUID, "banned_until");

    private final List<String> closed = new ArrayList<>();
    private final List<Notice> notices = new ArrayList<>();
    private final Counts counts = new Counts();
    private final RevocationList list = new RevocationList(100, 100, RevocationList.Forgotten.REFUSED);
    private CatalogImage catalog = catalog(relation(SESSIONS, "sessions", Oid.UUID, "user_id", "1"), users());
    private final SessionWatch watch = new SessionWatch(
            new SessionWatch.Host() {
                @Override
                public CatalogImage catalog() {
                    return catalog;
                }

                @Override
                public void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message) {
                    stream.close();
                    closed.add(stream.handle().streamId() + " " + reason.wireName() + " " + code.wireName());
                }
            },
            effect -> {
                if (effect instanceof Effect.Log(var notice)) {
                    notices.add(notice);
                }
            },
            counts,
            new SessionRules(TABLES, list));
    private long lsn = 0x100;

    private static RelationDefinition definition(int oid, String name, int idType, String other) {
        return new RelationDefinition(
                oid,
                "auth",
                name,
                'd',
                List.of(
                        new RelationDefinition.Column("id", idType, -1, true),
                        new RelationDefinition.Column(
                                other, other.equals("banned_until") ? Oid.TIMESTAMPTZ : Oid.UUID, -1, false)));
    }

    static Relation users() {
        return relation(USERS, "users", Oid.UUID, "banned_until", "1");
    }

    static Relation relation(int oid, String name, int idType, String other, String source) {
        return new Relation(
                oid,
                "auth",
                name,
                Relation.Kind.TABLE,
                10,
                Relation.RowSecurity.OFF,
                new ReplicaIdentity.Default(List.of(1)),
                List.of(column(1, "id", idType), column(2, other, Oid.TIMESTAMPTZ)),
                List.of(),
                List.of(),
                new LinkedHashMap<>(),
                new PublishedTable(null, EnumSet.allOf(PublishedTable.Action.class), null),
                "v",
                "r",
                new Relation.Feed(source, "file", new LinkedHashMap<>()));
    }

    private static Column column(int attnum, String name, int type) {
        return new Column(attnum, name, type, -1, Column.Nullability.NOT_NULL, Column.Generation.NONE, 0);
    }

    private static CatalogImage catalog(Relation... relations) {
        Map<Integer, PgType> types = new LinkedHashMap<>();
        for (int oid : new int[] {Oid.UUID, Oid.TEXT, Oid.NUMERIC, Oid.TIMESTAMPTZ}) {
            types.put(oid, new PgType.Base(oid, "t"));
        }
        Map<Integer, Operator> operators = new LinkedHashMap<>();
        return new CatalogImage(
                new Stamp(new TransactionSnapshot(1, 1, List.of()), Lsn.ZERO),
                List.of(relations),
                new CatalogImage.Dictionary(
                        18, types, new LinkedHashMap<>(), new LinkedHashMap<>(), operators, new LinkedHashMap<>()));
    }

    private StreamState open(String streamId, @Nullable String subject, @Nullable String session) {
        Identity caller =
                new Identity(subject, "authenticated", "{}", NOON.plusSeconds(3600), session, NOON.minusSeconds(60));
        assertThat(watch.refusal(caller, NOON)).isNull();
        StreamState stream = new StreamState(new Handle(streamId), caller);
        watch.opened(stream);
        return stream;
    }

    private @Nullable Refusal refusal(@Nullable String subject, @Nullable String session) {
        return watch.refusal(caller(subject, session), NOON);
    }

    private static Identity caller(@Nullable String subject, @Nullable String session) {
        return new Identity(subject, "authenticated", "{}", NOON.plusSeconds(3600), session, NOON.minusSeconds(60));
    }

    private void commit(Change... changes) {
        lsn += 0x100;
        watch.before(List.of(changes), new Lsn(lsn), NOON);
    }

    private static Change signedOut(String id) {
        return new Change.Delete(SESSIONS_DEFINITION, tuple(id, NOT_SENT));
    }

    private static Change user(String id, @Nullable String bannedUntil) {
        return new Change.Update(USERS_DEFINITION, null, tuple(id, bannedUntil));
    }

    @Test
    void deleting_a_session_closes_its_streams_and_no_others() {
        open("one", ALICE, S1);
        open("two", ALICE, S1);
        open("other", ALICE, S2);
        open("none", ALICE, null);

        commit(signedOut(S1));

        assertThat(closed)
                .containsExactly("one session_revoked session_revoked", "two session_revoked session_revoked");
        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.SESSION_REVOKED);
        assertThat(refusal(ALICE, S2)).isNull();
        assertThat(counts.of("revoked session")).isEqualTo(1);
        assertThat(notices).hasSize(1);
        assertThat(notices.getFirst().message()).isEqualTo("session revoked; its streams were closed");
        assertThat(notices.getFirst().fields())
                .containsExactly("session_id", S1, "streams", "2", "commit_lsn", "0/200");
    }

    @Test
    void a_stream_is_found_however_its_token_spells_the_session() {
        open("one", ALICE, "{" + S2.toUpperCase(Locale.ROOT) + "}");

        commit(signedOut(S2));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    @Test
    void a_session_whose_id_becomes_another_has_ended() {
        open("one", ALICE, S1);
        open("two", ALICE, S2);

        commit(new Change.Update(SESSIONS_DEFINITION, tuple(S1, NOT_SENT), tuple("3" + S1.substring(1), ALICE)));
        commit(new Change.Update(SESSIONS_DEFINITION, null, tuple(S2, ALICE)));
        commit(new Change.Update(SESSIONS_DEFINITION, tuple(S2, BOB), tuple(S2, ALICE)));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.SESSION_REVOKED);
    }

    @Test
    void truncating_the_sessions_ends_them_all() {
        open("one", ALICE, S1);
        open("none", BOB, null);

        commit(new Change.Truncate(SESSIONS_DEFINITION));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
        assertThat(refusal(BOB, S2)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(refusal(BOB, null)).isNull();
    }

    @Test
    void a_deleted_row_that_does_not_say_which_ends_them_all() {
        open("one", ALICE, S1);

        commit(new Change.Delete(SESSIONS_DEFINITION, tuple(NOT_SENT, NOT_SENT)));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    @Test
    void a_ban_in_the_future_closes_the_streams_of_its_user_and_its_end_lets_the_user_in_again() {
        open("one", ALICE, S1);
        open("spelled", ALICE.replace("-", ""), null);
        open("bob", BOB, S2);

        commit(user(ALICE, "2026-03-01 13:00:00+00"));

        assertThat(closed).containsExactly("one user_banned user_banned", "spelled user_banned user_banned");
        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.USER_BANNED);
        assertThat(counts.of("revoked ban")).isEqualTo(1);
        assertThat(notices.getFirst().fields()).containsExactly("streams", "2", "commit_lsn", "0/200");

        commit(user(ALICE, "2026-03-01 13:00:00+00"));
        assertThat(counts.of("revoked ban")).isEqualTo(1);

        commit(user(ALICE, null));
        assertThat(refusal(ALICE, S1)).isNull();
    }

    @Test
    void no_ban_a_past_one_and_one_that_ends_now_close_nothing() {
        open("one", ALICE, S1);

        commit(user(ALICE, null));
        commit(user(ALICE, "2026-03-01 11:59:59+00"));
        commit(user(ALICE, "2026-03-01 12:00:00+00"));
        commit(user(ALICE, "-infinity"));

        assertThat(closed).isEmpty();
        assertThat(refusal(ALICE, S1)).isNull();
    }

    @Test
    void a_ban_without_end_and_one_that_cannot_be_read_hold() {
        open("one", ALICE, S1);
        open("two", BOB, S2);

        commit(user(ALICE, "infinity"), user(BOB, "whenever"));

        assertThat(closed).containsExactly("one user_banned user_banned", "two user_banned user_banned");
    }

    @Test
    void a_user_inserted_with_a_ban_is_banned_and_deleting_the_user_lifts_nothing() {
        commit(new Change.Insert(USERS_DEFINITION, tuple(ALICE, "infinity")));
        commit(new Change.Delete(USERS_DEFINITION, tuple(ALICE, NOT_SENT)), new Change.Truncate(USERS_DEFINITION));

        assertThat(refusal(ALICE, null)).isEqualTo(Refusal.USER_BANNED);
    }

    @Test
    void an_update_that_moves_a_ban_into_the_past_lifts_it() {
        commit(user(ALICE, "infinity"));
        commit(user(ALICE, "2026-02-01 00:00:00+00"));

        assertThat(refusal(ALICE, S1)).isNull();
    }

    @Test
    void a_stream_that_is_gone_or_has_another_token_is_found_no_more_by_the_old_one() {
        StreamState gone = open("gone", ALICE, S1);
        watch.closed(gone);

        commit(signedOut(S1), user(ALICE, "infinity"));

        assertThat(closed).isEmpty();
    }

    @Test
    void changes_of_other_tables_end_nothing() {
        open("one", ALICE, S1);

        commit(new Change.Delete(definition(18_000, "other", Oid.UUID, "user_id"), tuple(S1, NOT_SENT)));

        assertThat(closed).isEmpty();
    }

    @Test
    void when_the_table_leaves_the_publication_streams_that_could_be_ended_are_closed_and_none_open() {
        open("one", ALICE, S1);
        open("subject", BOB, null);
        open("nobody", null, null);

        catalog = catalog(users());
        watch.tick(NOON);

        assertThat(closed)
                .containsExactly(
                        "one session_check_unavailable session_check_unavailable",
                        "subject session_check_unavailable session_check_unavailable");
        assertThat(refusal(ALICE, S2)).isEqualTo(Refusal.UNSEEN);
        assertThat(refusal(null, null)).isNull();
        assertThat(notices.getLast().level()).isEqualTo(Notice.Level.ERROR);
        assertThat(watch.blindness())
                .isEqualTo(new Census.Blindness(
                        "auth.sessions",
                        "table auth.sessions is not published with all its changes",
                        "ALTER PUBLICATION ... ADD TABLE \"auth\".\"sessions\";"));

        catalog = catalog(relation(SESSIONS, "sessions", Oid.UUID, "user_id", "2"), users());
        watch.tick(NOON);

        assertThat(refusal(ALICE, S2)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(refusal(BOB, null)).isNull();
        assertThat(watch.blindness()).isNull();
    }

    @Test
    void a_column_or_an_identity_that_is_gone_makes_the_watch_blind() {
        assertThat(refusal(ALICE, S1)).isNull();
        catalog = catalog(
                relation(SESSIONS, "sessions", Oid.UUID, "user_id", "1"),
                relation(USERS, "users", Oid.UUID, "something_else", "1"));
        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.UNSEEN);
    }

    @Test
    void users_whose_ids_cannot_be_compared_any_more_are_not_let_in_unwatched() {
        open("one", ALICE, S1);
        open("nobody", null, null);

        catalog = catalog(sessions(), relation(USERS, "users", Oid.NUMERIC, "banned_until", "1"));
        watch.tick(NOON);

        assertThat(closed).containsExactly("one session_check_unavailable session_check_unavailable");
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.UNSEEN);
        assertThat(watch.blindness()).extracting(Census.Blindness::table).isEqualTo("auth.users");
        // the log brings the table's new definition
        commit(new Change.Update(definition(USERS, "users", Oid.NUMERIC, "banned_until"), null, tuple("7", null)));
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.UNSEEN);
    }

    @Test
    void a_change_of_one_table_lets_nobody_in_while_the_other_is_not_seen() {
        assertThat(refusal(ALICE, S1)).isNull();
        catalog = catalog(users());
        watch.tick(NOON);
        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.UNSEEN);

        commit(new Change.Update(definition(USERS, "users", Oid.TEXT, "banned_until"), null, tuple(BOB, null)));

        assertThat(refusal(ALICE, S1)).isEqualTo(Refusal.UNSEEN);
    }

    @Test
    void rows_that_went_without_a_word_end_every_session() {
        open("one", ALICE, S1);

        catalog = catalog(relation(SESSIONS, "sessions", Oid.UUID, "user_id", "another entry"), users());
        watch.tick(NOON);

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    @Test
    void bans_that_came_without_a_word_are_told_by_the_age_of_tokens() {
        open("one", ALICE, S1);
        open("subject", BOB, null);
        open("nobody", null, null);

        catalog = catalog(sessions(), relation(USERS, "users", Oid.UUID, "banned_until", "another entry"));
        watch.tick(NOON);

        assertThat(closed)
                .containsExactly("one session_revoked session_revoked", "subject session_revoked session_revoked");
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(refusal(null, null)).isNull();
        assertThat(notices.getLast().message()).isEqualTo("bans may have been missed; streams of users were closed");
        Identity later = new Identity(BOB, "authenticated", "{}", NOON.plusSeconds(3600), null, NOON.plusSeconds(61));
        assertThat(watch.refusal(later, NOON)).isNull();
    }

    @Test
    void bans_of_the_time_when_the_users_were_not_published_are_told_by_the_age_of_tokens() {
        open("subject", BOB, null);
        catalog = catalog(sessions());
        watch.tick(NOON);
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.UNSEEN);

        catalog = catalog(sessions(), relation(USERS, "users", Oid.UUID, "banned_until", "2"));
        watch.tick(NOON);
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.ISSUED_TOO_EARLY);

        // what is said of a user from then on is the last that was said
        watch.before(List.of(user(BOB, "infinity")), new Lsn(0x1000), NOON.plusSeconds(1));
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.USER_BANNED);
        watch.before(List.of(user(BOB, null)), new Lsn(0x1100), NOON.plusSeconds(2));
        assertThat(refusal(BOB, null)).isNull();
        assertThat(refusal(ALICE, null)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
    }

    @Test
    void a_ban_that_was_over_before_bans_were_missed_says_nothing_of_now() {
        commit(user(ALICE, "2026-03-01 12:00:01+00"), user(BOB, "infinity"));
        watch.tick(NOON.plusSeconds(10));

        catalog = catalog(sessions(), relation(USERS, "users", Oid.UUID, "banned_until", "another entry"));
        watch.tick(NOON.plusSeconds(10));

        assertThat(watch.refusal(caller(ALICE, null), NOON.plusSeconds(10))).isEqualTo(Refusal.ISSUED_TOO_EARLY);
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.USER_BANNED);
    }

    @Test
    void a_column_made_anew_may_have_come_with_bans_or_ids() {
        open("one", ALICE, S1);
        open("subject", BOB, null);

        catalog = catalog(sessions(), moved(users(), 2, 3));
        watch.tick(NOON);
        assertThat(closed)
                .containsExactly("one session_revoked session_revoked", "subject session_revoked session_revoked");
        assertThat(refusal(BOB, null)).isEqualTo(Refusal.ISSUED_TOO_EARLY);
    }

    @Test
    void a_session_id_made_anew_ends_every_session() {
        open("one", ALICE, S1);

        catalog = catalog(moved(sessions(), 1, 3), users());
        watch.tick(NOON);

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    private static Relation sessions() {
        return relation(SESSIONS, "sessions", Oid.UUID, "user_id", "1");
    }

    /// A column of the table has another number.
    private static Relation moved(Relation of, int from, int to) {
        List<Column> columns = new ArrayList<>();
        for (Column column : of.columns()) {
            columns.add(column.attnum() == from ? column(to, column.name(), column.typeOid()) : column);
        }
        return new Relation(
                of.oid(),
                of.schema(),
                of.name(),
                of.kind(),
                of.ownerOid(),
                of.rowSecurity(),
                new ReplicaIdentity.Full(),
                columns,
                of.indexes(),
                of.policies(),
                of.grantsByRole(),
                of.published(),
                of.fingerprint(),
                of.rightsFingerprint(),
                of.feed());
    }

    @Test
    void a_table_made_anew_under_the_name_is_watched() {
        open("one", ALICE, S1);

        commit(new Change.Delete(definition(19_000, "sessions", Oid.UUID, "user_id"), tuple(S1, NOT_SENT)));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    @Test
    void when_the_column_becomes_a_text_ids_are_compared_as_texts() {
        open("one", ALICE, S1);
        open("odd", ALICE, S2.toUpperCase(Locale.ROOT));
        RelationDefinition texts = definition(SESSIONS, "sessions", Oid.TEXT, "user_id");

        commit(new Change.Delete(texts, tuple(S1, NOT_SENT)), new Change.Delete(texts, tuple(S2, NOT_SENT)));

        assertThat(closed).containsExactly("one session_revoked session_revoked");
    }

    @Test
    void a_mass_deletion_logs_a_few_lines_and_a_count() {
        Change[] changes = new Change[50];
        for (int i = 0; i < changes.length; i++) {
            changes[i] = signedOut(S1.substring(0, 34) + String.format(Locale.ROOT, "%02x", i));
        }
        open("one", ALICE, S1.substring(0, 34) + "31");

        commit(changes);

        assertThat(closed).containsExactly("one session_revoked session_revoked");
        assertThat(notices).hasSize(22);
        assertThat(notices.getLast().fields()).containsExactly("count", "29", "commit_lsn", "0/200");
        assertThat(counts.of("revoked session")).isEqualTo(50);
    }

    @Test
    void the_tables_are_known_by_name_and_nothing_is_watched_without_rules() {
        assertThat(watch.isWatched("auth", "sessions")).isTrue();
        assertThat(watch.isWatched("auth", "users")).isTrue();
        assertThat(watch.isWatched("public", "sessions")).isFalse();
        SessionWatch none = new SessionWatch(
                new SessionWatch.Host() {
                    @Override
                    public CatalogImage catalog() {
                        throw new AssertionError("nothing is asked");
                    }

                    @Override
                    public void closeStream(StreamState stream, CloseReason reason, ErrorCode code, String message) {
                        throw new AssertionError("nothing is closed");
                    }
                },
                effect -> {},
                counts,
                null);
        none.before(List.of(signedOut(S1)), new Lsn(1), NOON);
        none.tick(NOON);
        assertThat(none.isWatched("auth", "sessions")).isFalse();
    }
}
