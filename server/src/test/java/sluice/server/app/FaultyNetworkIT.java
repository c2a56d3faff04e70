package sluice.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.server.app.RunningSluice.ALICE;
import static sluice.server.app.RunningSluice.BOB;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;
import sluice.testkit.TcpProxy.Direction;

/// The network between clients and the server, and between the server and PostgreSQL, delays, holds, cuts in the
/// middle of a message, and ends one direction of connections, while rows are written.
class FaultyNetworkIT {
    @TempDir
    private Path scratch;

    @Test
    void whatever_the_network_does_clients_go_on_where_they_were_and_miss_nothing() throws Exception {
        PostgresCluster cluster = PostgresCluster.of(PostgresCluster.NEWEST);
        try (PostgresDatabase database = LoadedServer.database(cluster, "network");
                TcpProxy replication = TcpProxy.to(cluster.port());
                TcpProxy pool = TcpProxy.to(cluster.port());
                LoadedServer loaded =
                        LoadedServer.on(database, scratch, RunningSluice.through(database, replication, pool));
                TcpProxy clients = TcpProxy.to(loaded.port())) {
            Follower steady = loaded.follow(ALICE, loaded.port());
            Follower alice = loaded.follow(ALICE, clients.port());
            Follower bob = loaded.follow(BOB, clients.port());
            loaded.load(91);

            betweenClientsAndServer(loaded, clients, List.of(alice, bob));
            betweenServerAndDatabase(loaded, replication, pool);

            loaded.settle();
            // who had a good network to the server never noticed
            assertThat(steady.resumes()).isZero();
            for (Follower follower : List.of(steady, alice, bob)) {
                assertThat(follower.beginnings()).isOne();
            }
        }
    }

    private static void betweenClientsAndServer(LoadedServer loaded, TcpProxy clients, List<Follower> cut) {
        loaded.awaitMore(20);
        clients.delay(Direction.TO_CLIENT, Duration.ofMillis(20));
        loaded.awaitMore(20);
        clients.pass();
        clients.stall(Direction.TO_CLIENT);
        loaded.awaitMore(20);
        clients.pass();
        List<Runnable> faults = List.of(
                clients::cut,
                () -> clients.cutAfter(Direction.TO_CLIENT, 5_000),
                () -> clients.halfClose(Direction.TO_CLIENT),
                () -> clients.halfClose(Direction.TO_SERVER));
        for (Runnable fault : faults) {
            int before = cut.stream().mapToInt(Follower::resumes).sum();
            fault.run();
            Await.until(
                    "clients are back",
                    () -> cut.stream().mapToInt(Follower::resumes).sum() > before);
            loaded.awaitMore(20);
        }
    }

    private static void betweenServerAndDatabase(LoadedServer loaded, TcpProxy replication, TcpProxy pool) {
        for (Direction direction : Direction.values()) {
            replication.delay(direction, Duration.ofMillis(20));
            pool.delay(direction, Duration.ofMillis(20));
        }
        loaded.awaitMore(20);
        replication.pass();
        pool.pass();
        replication.stall(Direction.TO_CLIENT);
        loaded.awaitMore(20);
        replication.pass();
        pool.halfClose(Direction.TO_CLIENT);
        pool.halfClose(Direction.TO_SERVER);
        List<Runnable> faults = List.of(
                () -> replication.cutAfter(Direction.TO_CLIENT, 3_000),
                () -> replication.halfClose(Direction.TO_SERVER));
        for (Runnable fault : faults) {
            long before = replication.accepted();
            fault.run();
            Await.until("the log is read by another connection", () -> replication.accepted() > before);
            loaded.awaitMore(20);
        }
    }
}
