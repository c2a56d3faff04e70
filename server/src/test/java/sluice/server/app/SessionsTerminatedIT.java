package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;

/// An operator ends the server's sessions in the database while rows are written: the one that streams the log, then
/// all of them, the one that holds the reader's lock included.
class SessionsTerminatedIT {
    @TempDir
    private Path scratch;

    @Test
    void clients_keep_their_streams_while_the_servers_sessions_are_ended_and_miss_nothing() throws Exception {
        try (PostgresDatabase database =
                        LoadedServer.database(PostgresCluster.of(PostgresCluster.NEWEST), "terminated");
                LoadedServer loaded = LoadedServer.on(database, scratch, Map.of())) {
            Follower alice = loaded.follow(ALICE, loaded.port());
            Follower bob = loaded.follow(BOB, loaded.port());
            loaded.followShared(loaded.port());
            loaded.load(81);
            loaded.awaitMore(20);
            // as likely as not the session is ended in the middle of this
            loaded.largeCommit(10_000, 3_000);
            awaitAnother(database, () -> Notes.cutReplication(database));
            loaded.awaitMore(20);
            loaded.largeCommit(20_000, 3_000);
            awaitAnother(
                    database,
                    () -> database.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                            + " current_database() AND usename IN ('sluice_repl', 'sluice_authz')"));
            loaded.awaitMore(20);

            loaded.settle();
            assertThat(alice.resumes() + bob.resumes()).isZero();
            assertThat(alice.beginnings()).isOne();
            assertThat(bob.beginnings()).isOne();
        }
    }

    private static void awaitAnother(PostgresDatabase database, Runnable end) {
        String before = walsender(database);
        end.run();
        Await.until("another session streams", () -> {
            String now = walsender(database);
            return !now.isEmpty() && !now.equals(before);
        });
    }

    private static String walsender(PostgresDatabase database) {
        return String.valueOf(database.value(
                "SELECT coalesce(max(active_pid)::text, '') FROM pg_replication_slots WHERE slot_name = ?",
                Notes.slot(database)));
    }
}
