package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import sluice.testkit.Await;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.sse.SseClient;

/// Sessions that are looked up when a stream opens and when it gets a new token.
class SessionLookupPgTest {
    private static final String SESSION = "44444444-0000-4000-8000-00000000000";
    private static final String BANNED = "55555555-0000-4000-8000-000000000005";
    private static final Map<String, String> LOOKED_UP =
            SessionsPgTest.with("SLUICE_REVOCATION_SESSION_LOOKUP", "true", "SLUICE_LOG_LEVEL", "error");

    private static PostgresDatabase database;
    private static RunningSluice sluice;

    @BeforeAll
    static void start() throws Exception {
        database = SessionsPgTest.withSessions("session_lookup");
        database.execute(
                "GRANT SELECT (id, banned_until) ON auth.users TO sluice_authz",
                "INSERT INTO auth.users VALUES ('" + ALICE + "', now() - interval '1 day'), ('" + BOB
                        + "', now() + interval '1 day'), ('" + BANNED + "', 'infinity')");
        sluice = RunningSluice.on(database, LOOKED_UP);
    }

    @AfterAll
    static void stop() {
        sluice.close();
        database.close();
    }

    private static void signIn(String session) {
        database.execute("INSERT INTO auth.sessions VALUES ('" + session + "', '" + ALICE + "')");
    }

    private static String token(String session) {
        return SessionsPgTest.token(sluice, ALICE, session);
    }

    /// While it runs no session can be looked up.
    private static void unreadable(Check check) throws Exception {
        database.execute("REVOKE SELECT (id) ON auth.sessions FROM sluice_authz");
        try {
            check.run();
        } finally {
            database.execute("GRANT SELECT (id) ON auth.sessions TO sluice_authz");
        }
    }

    private interface Check {
        void run() throws Exception;
    }

    @Test
    void a_session_with_a_row_opens_and_is_trusted_without_another_question() throws Exception {
        signIn(SESSION + "1");
        SessionsPgTest.open(sluice, token(SESSION + "1")).close();
        unreadable(() -> {
            SessionsPgTest.open(sluice, token(SESSION + "1")).close();
            SessionsPgTest.open(sluice, SessionsPgTest.token(sluice, ALICE, null))
                    .close();
        });
    }

    @Test
    void a_session_without_a_row_is_refused_and_remembered() throws Exception {
        SessionsPgTest.assertRefused(sluice, token(SESSION + "2"), 401, "unauthorized");
        unreadable(() -> SessionsPgTest.assertRefused(sluice, token(SESSION + "2"), 401, "unauthorized"));
        SessionsPgTest.assertRefused(sluice, token("no uuid"), 401, "unauthorized");
    }

    @Test
    void a_database_that_does_not_say_makes_the_client_ask_again() throws Exception {
        signIn(SESSION + "3");
        unreadable(() -> SessionsPgTest.assertRefused(sluice, token(SESSION + "3"), 503, "session_check_unavailable"));
        SessionsPgTest.open(sluice, token(SESSION + "3")).close();
    }

    @Test
    void a_session_that_was_trusted_ends_by_the_log_at_once() {
        signIn(SESSION + "4");
        try (SseClient alice = SessionsPgTest.open(sluice, token(SESSION + "4"))) {
            database.execute("DELETE FROM auth.sessions WHERE id = '" + SESSION + "4'");
            assertThat(alice.await("error").data()).contains("session_revoked");
            SessionsPgTest.assertRefused(sluice, token(SESSION + "4"), 401, "unauthorized");
        }
    }

    @Test
    void a_new_token_is_looked_up_before_the_stream_takes_it() throws Exception {
        signIn(SESSION + "5");
        try (SseClient alice = SessionsPgTest.open(sluice, token(SESSION + "5"))) {
            String stream = alice.received().getFirst().json().get("stream_id").asText();
            assertThat(newToken(stream, SESSION + "6")).isEqualTo(401);
            unreadable(() -> assertThat(newToken(stream, SESSION + "7")).isEqualTo(503));
            signIn(SESSION + "7");
            assertThat(newToken(stream, SESSION + "7")).isEqualTo(200);
            database.execute("DELETE FROM auth.sessions WHERE id = '" + SESSION + "7'");
            assertThat(alice.await("error").data()).contains("session_revoked");
        }
    }

    private static int newToken(String stream, String session) throws Exception {
        return sluice.post(
                        "/token", "", "{\"stream_id\":\"" + stream + "\",\"access_token\":\"" + token(session) + "\"}")
                .statusCode();
    }

    @Test
    void a_user_banned_before_the_server_read_the_log_is_refused_until_the_ban_is_lifted() throws Exception {
        String bob = SessionsPgTest.token(sluice, BOB, null);
        SessionsPgTest.assertRefused(sluice, bob, 401, "unauthorized");
        try (SseClient alice = SessionsPgTest.open(sluice, SessionsPgTest.token(sluice, ALICE, null))) {
            String stream = alice.received().getFirst().json().get("stream_id").asText();
            assertThat(sluice.post("/token", "", "{\"stream_id\":\"" + stream + "\",\"access_token\":\"" + bob + "\"}")
                            .body())
                    .contains("the user is banned");
        }
        database.execute("UPDATE auth.users SET banned_until = NULL WHERE id = '" + BOB + "'");
        Await.until("the lifted ban lets in", Duration.ofSeconds(60), () -> {
            try (SseClient back = sluice.stream(bob, RunningSluice.shape("mine", "notes", ""))) {
                return back.status() == 200;
            }
        });
        try (SseClient open = SessionsPgTest.open(sluice, bob)) {
            database.execute("UPDATE auth.users SET banned_until = 'infinity' WHERE id = '" + BOB + "'");
            assertThat(open.await("error").data()).contains("user_banned");
        }
        SessionsPgTest.assertRefused(sluice, bob, 401, "unauthorized");
    }

    @Test
    void what_row_level_security_hides_while_the_server_runs_is_not_known_and_ends_no_session() throws Exception {
        String banned = SessionsPgTest.token(sluice, BANNED, null);
        signIn(SESSION + "a");
        database.execute(
                "ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY",
                "ALTER TABLE auth.sessions ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON auth.users USING (id = auth.uid())");
        try {
            SessionsPgTest.assertRefused(sluice, banned, 503, "session_check_unavailable");
            SessionsPgTest.assertRefused(sluice, token(SESSION + "a"), 503, "session_check_unavailable");
        } finally {
            database.execute(
                    "DROP POLICY own ON auth.users",
                    "CREATE POLICY all_of_them ON auth.users FOR SELECT TO sluice_authz USING (true)",
                    "ALTER TABLE auth.sessions DISABLE ROW LEVEL SECURITY");
        }
        SessionsPgTest.assertRefused(sluice, banned, 401, "unauthorized");
        SessionsPgTest.open(sluice, token(SESSION + "a")).close();
    }

    @Test
    void a_session_signed_out_while_no_server_ran_is_refused_after_the_restart() throws Exception {
        try (PostgresDatabase own = SessionsPgTest.withSessions("session_restart")) {
            own.execute(
                    "INSERT INTO auth.users VALUES ('" + ALICE + "')",
                    "INSERT INTO auth.sessions VALUES ('" + SESSION + "8', '" + ALICE + "'), ('" + SESSION + "9', '"
                            + ALICE + "')");
            try (RunningSluice first = RunningSluice.on(own, LOOKED_UP)) {
                SessionsPgTest.open(first, SessionsPgTest.token(first, ALICE, SESSION + "8"))
                        .close();
            }
            own.execute("DELETE FROM auth.sessions WHERE id = '" + SESSION + "8'");
            own.rows("SELECT pg_replication_slot_advance(?, pg_current_wal_lsn())", Notes.slot(own));
            try (RunningSluice second = RunningSluice.on(own, LOOKED_UP)) {
                SessionsPgTest.assertRefused(
                        second, SessionsPgTest.token(second, ALICE, SESSION + "8"), 401, "unauthorized");
                SessionsPgTest.open(second, SessionsPgTest.token(second, ALICE, SESSION + "9"))
                        .close();
            }
        }
    }
}
