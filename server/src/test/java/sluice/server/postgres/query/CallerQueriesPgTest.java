package sluice.server.postgres.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.server.postgres.query.Questions.ALICE;
import static sluice.server.postgres.query.Questions.BOB;
import static sluice.server.postgres.query.Questions.TIMEOUT;
import static sluice.server.postgres.query.Questions.caller;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;
import sluice.core.value.Oid;
import sluice.server.postgres.PostgresUrl;
import sluice.testkit.Await;
import sluice.testkit.DatabaseOptions;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CallerQueriesPgTest {
    private final PostgresDatabase database = PostgresCluster.of(18)
            .createDatabase("folds", DatabaseOptions.unusual().set("transform_null_equals", "on"))
            .withStandardRoles();
    private final Pool pool = Questions.pool(database, 1, Pool.Reset.ROLLBACK);
    private final CallerQueries queries = new CallerQueries(pool, TIMEOUT);

    @BeforeAll
    void prepare() {
        database.execute("ALTER DATABASE " + SqlText.identifier(database.name()) + " SET search_path = app, public");
        database.reconnect();
        database.execute(
                "CREATE SCHEMA app",
                "GRANT USAGE ON SCHEMA app TO anon, authenticated",
                "CREATE TABLE app.staff (id uuid)",
                "GRANT SELECT ON app.staff TO authenticated",
                "INSERT INTO app.staff VALUES ('" + ALICE + "')",
                // names without a schema, as applications write them
                "CREATE FUNCTION app.is_staff() RETURNS bool LANGUAGE sql STABLE AS"
                        + " 'SELECT EXISTS (SELECT FROM staff WHERE id = auth.uid())'",
                "CREATE FUNCTION app.remember() RETURNS text LANGUAGE sql AS"
                        + " 'SELECT set_config(''app.seen'', ''yes'', false)'",
                "CREATE FUNCTION app.write() RETURNS text LANGUAGE sql SECURITY DEFINER AS"
                        + " 'INSERT INTO app.staff VALUES (NULL) RETURNING id::text'",
                "CREATE FUNCTION app.lower(text) RETURNS text LANGUAGE sql AS 'SELECT ''fooled'''",
                "CREATE FUNCTION app.lock() RETURNS text LANGUAGE sql AS 'SELECT pg_advisory_lock(42)::text'");
    }

    @AfterAll
    void close() {
        pool.close();
        database.close();
    }

    private List<FoldAnswer> fold(String subject, String... expressions) {
        List<Fold> folds = new ArrayList<>();
        for (String expression : expressions) {
            folds.add(new Fold(expression, Oid.TEXT));
        }
        return queries.fold(caller("authenticated", subject), folds).value();
    }

    private static FoldAnswer value(@Nullable String text) {
        return new FoldAnswer.Value(text);
    }

    @Test
    void folds_are_evaluated_as_the_caller() {
        assertThat(fold(
                        ALICE,
                        "auth.uid()",
                        "current_user",
                        "app.is_staff()",
                        "(auth.jwt() OPERATOR(pg_catalog.->>) 'it''s')",
                        "auth.jwt() OPERATOR(pg_catalog.?) 'sub'",
                        "NULL::text",
                        "'a?b{c}'::text"))
                .containsExactly(
                        value(ALICE),
                        value("authenticated"),
                        value("t"),
                        value("a\\b?"),
                        value("t"),
                        value(null),
                        value("a?b{c}"));
        assertThat(fold(BOB, "auth.uid()", "app.is_staff()")).containsExactly(value(BOB), value("f"));
    }

    @Test
    void values_print_the_same_whatever_the_database_is_set_to() {
        assertThat(fold(
                        ALICE,
                        "'2024-03-04 05:06:07.1+00'::timestamptz",
                        "'2024-03-04'::date",
                        "'1 day -02:00'::interval",
                        "'\\x00ff'::bytea",
                        "0.1::float8 + 0.2",
                        "(NULL = NULL)",
                        "current_setting('TimeZone')"))
                .containsExactly(
                        value("2024-03-04 05:06:07.1+00"),
                        value("2024-03-04"),
                        value("1 day -02:00:00"),
                        value("\\x00ff"),
                        value("0.30000000000000004"),
                        value(null),
                        value("UTC"));
    }

    @Test
    void a_fold_that_raises_spoils_no_other() {
        assertThat(fold(ALICE, "1", "1 / 0", "'x'::uuid", "nonsense(", "no_such()", "auth.uid()"))
                .containsExactly(
                        value("1"),
                        new FoldAnswer.Raised("22012"),
                        new FoldAnswer.Raised("22P02"),
                        new FoldAnswer.Raised("42601"),
                        new FoldAnswer.Raised("42883"),
                        value(ALICE));
        assertThat(fold(ALICE)).isEmpty();
    }

    /// The pool would take it for a broken connection.
    @Test
    void what_the_server_does_not_support_is_an_answer_too() {
        assertThat(fold(ALICE, "pg_catalog.to_ascii('x'::text)", "auth.uid()"))
                .containsExactly(new FoldAnswer.Raised("0A000"), value(ALICE));
    }

    @Test
    void nothing_a_caller_did_reaches_the_next() {
        assertThat(fold(ALICE, "app.remember()", "1 / 0")).first().isEqualTo(value("yes"));
        fold(ALICE, "app.lock()");
        assertThat(fold(BOB, "current_setting('request.jwt.claims')::jsonb ->> 'sub'", "auth.uid()"))
                .containsExactly(value(BOB), value(BOB));
        assertThat(fold(BOB, "coalesce(nullif(current_setting('app.seen', true), ''), 'no')"))
                .containsExactly(value("no"));
        assertThat(database.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                .isEqualTo("0");
        assertThat(database.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'sluice_authz'"
                        + " AND datname = current_database() AND state <> 'idle'"))
                .isEqualTo("0");
    }

    @Test
    void a_used_connection_answers_like_a_fresh_one() {
        String question = "(current_setting('app.tenant', true) IS NULL)";
        try (Pool fresh = Questions.pool(database, 1, Pool.Reset.ROLLBACK)) {
            CallerQueries first = new CallerQueries(fresh, TIMEOUT);
            for (int i = 0; i < 5; i++) {
                assertThat(first.fold(caller("anon", BOB), List.of(new Fold(question, Oid.BOOL)))
                                .value())
                        .containsExactly(value("t"));
            }
        }
    }

    @Test
    void nobodys_function_takes_the_place_of_a_built_in_one() {
        assertThat(fold(ALICE, "lower('ABC'::text)")).containsExactly(value("abc"));
    }

    @Test
    void nothing_can_be_written() {
        assertThat(fold(ALICE, "app.write()", "lo_create(0)")).containsOnly(new FoldAnswer.Raised("25006"));
    }

    @Test
    void a_slow_fold_is_cut_off_and_the_connection_stays_usable() {
        CallerQueries hurried = new CallerQueries(pool, Duration.ofMillis(200));
        List<FoldAnswer> answers = hurried.fold(
                        caller("authenticated", ALICE),
                        List.of(new Fold("pg_sleep(10)", Oid.TEXT), new Fold("1", Oid.INT4)))
                .value();
        assertThat(answers.getFirst()).isEqualTo(new FoldAnswer.Raised("57014"));
        assertThat(fold(BOB, "auth.uid()")).containsExactly(value(BOB));
    }

    @Test
    void a_lost_connection_is_a_transient_failure_and_the_next_question_is_answered() throws InterruptedException {
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        Thread lost = Thread.startVirtualThread(() -> {
            try {
                fold(ALICE, "pg_sleep(31)");
            } catch (RuntimeException e) {
                failure.set(e);
            }
        });
        Await.until(
                "the session was ended",
                () -> "1"
                        .equals(database.value("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                + " WHERE query LIKE '%pg_sleep(31)%' AND state = 'active' AND usename = 'sluice_authz'"
                                + " AND datname = current_database()")));
        lost.join();
        assertThat(failure.get())
                .isInstanceOf(QueryException.class)
                .extracting(e -> ((QueryException) e).kind())
                .isEqualTo(QueryException.Kind.TRANSIENT);
        assertThat(fold(BOB, "auth.uid()")).containsExactly(value(BOB));
    }

    @Test
    void a_role_the_pool_cannot_assume_is_a_definite_failure_without_the_claims() {
        assertThatThrownBy(() -> queries.fold(caller("service_role", ALICE), List.of(new Fold("1", Oid.INT4))))
                .isInstanceOf(QueryException.class)
                .hasMessageContaining("42501")
                .hasMessageNotContaining(ALICE)
                .hasNoCause()
                .extracting(e -> ((QueryException) e).kind())
                .isEqualTo(QueryException.Kind.DEFINITE);
    }

    @Test
    void a_wrong_password_is_told_without_it() {
        try (Pool wrong = Pool.open(
                PostgresUrl.parse(database.url("sluice_authz").replaceFirst(":[^:@]*@", ":falsch@")),
                new Pool.Sizing(1, 0, Duration.ofSeconds(3)),
                Pool.Reset.ROLLBACK)) {
            assertThatThrownBy(() -> new CallerQueries(wrong, TIMEOUT)
                            .fold(caller("anon", BOB), List.of(new Fold("1", Oid.INT4))))
                    .isInstanceOf(QueryException.class)
                    .hasMessageContaining("28P01")
                    .hasMessageNotContaining("falsch");
        }
    }

    @Test
    void discarding_everything_leaves_the_settings_pinned() {
        try (Pool paranoid = Questions.pool(database, 1, Pool.Reset.DISCARD_ALL)) {
            CallerQueries again = new CallerQueries(paranoid, TIMEOUT);
            for (int i = 0; i < 3; i++) {
                assertThat(again.fold(
                                        caller("anon", BOB),
                                        List.of(
                                                new Fold("'2024-03-04'::date", Oid.DATE),
                                                new Fold("pg_backend_pid()", Oid.INT4)))
                                .value()
                                .getFirst())
                        .isEqualTo(value("2024-03-04"));
            }
        }
    }

    @Test
    void an_answer_of_a_server_on_a_timeline_that_is_not_followed_is_none() {
        try (Pool followed = Questions.pool(database, 1, Pool.Reset.ROLLBACK)) {
            CallerQueries folds = new CallerQueries(followed, TIMEOUT);
            RightsPoll rights = new RightsPoll(followed, "none", TIMEOUT);
            List<Fold> one = List.of(new Fold("1", Oid.INT4));
            followed.follow(timeline -> timeline == 1);
            assertThat(folds.fold(caller("anon", BOB), one).value()).containsExactly(value("1"));
            assertThat(rights.fingerprint().value()).isNotEmpty();

            followed.follow(timeline -> timeline == 2);
            for (Runnable question :
                    List.<Runnable>of(() -> folds.fold(caller("anon", BOB), one), rights::fingerprint)) {
                assertThatThrownBy(question::run)
                        .hasMessageContaining("another server")
                        .extracting(e -> ((QueryException) e).kind())
                        .isEqualTo(QueryException.Kind.TRANSIENT);
            }
        }
    }

    @Test
    void a_full_lane_of_callers_does_not_hold_up_the_catalog() throws InterruptedException {
        CallerQueries slow = new CallerQueries(pool, Duration.ofSeconds(3));
        Thread busy = Thread.startVirtualThread(
                () -> slow.fold(caller("authenticated", ALICE), List.of(new Fold("pg_sleep(30)", Oid.TEXT))));
        Await.until(
                "the fold is running",
                () -> "1"
                        .equals(database.value(
                                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND"
                                        + " state = 'active' AND usename = 'sluice_authz' AND datname ="
                                        + " current_database()")));
        assertThat(new RightsPoll(pool, "sluice", TIMEOUT).fingerprint().value())
                .isNotEmpty();
        assertThat(CatalogLoader.start(pool, "sluice", List.of("anon"), TIMEOUT).serverMajor())
                .isEqualTo(18);
        assertThat(busy.isAlive()).isTrue();
        busy.join();
    }
}
