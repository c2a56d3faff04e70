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
import sluice.testkit.TcpProxy;
import sluice.testkit.postgres.PostgresServer;

/// PostgreSQL is stopped and started again while rows are written: once as an operator does it, once as a crash.
class PostgresRestartedIT {
    @TempDir
    private Path scratch;

    @Test
    void clients_keep_their_streams_through_restarts_of_the_database_and_miss_nothing() throws Exception {
        try (PostgresCluster cluster = PostgresCluster.start(PostgresCluster.NEWEST, Map.of());
                PostgresDatabase database = LoadedServer.database(cluster, "restarted");
                LoadedServer loaded = LoadedServer.on(database, scratch, Map.of());
                TcpProxy proxy = TcpProxy.to(loaded.port())) {
            Follower alice = loaded.follow(ALICE, loaded.port());
            Follower bob = loaded.follow(BOB, loaded.port());
            Follower cut = loaded.follow(ALICE, proxy.port());
            loaded.followShared(loaded.port());
            loaded.load(71);
            loaded.awaitMore(50);

            cluster.stop(PostgresServer.Stop.FAST);
            // who loses her stream meanwhile is told to come back, and goes on where she was once she is let in
            proxy.cut();
            cluster.start();
            loaded.awaitMore(50);
            Await.until("the one that was cut goes on", () -> cut.resumes() > 0);

            cluster.stop(PostgresServer.Stop.IMMEDIATE);
            cluster.start();
            loaded.awaitMore(50);

            loaded.settle();
            assertThat(alice.resumes() + bob.resumes()).isZero();
            assertThat(alice.beginnings()).isOne();
            assertThat(bob.beginnings()).isOne();
            assertThat(cut.beginnings()).isOne();
        }
    }
}
