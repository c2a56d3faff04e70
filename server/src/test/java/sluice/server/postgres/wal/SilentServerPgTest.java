package sluice.server.postgres.wal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.testkit.Await;
import sluice.testkit.PostgresCluster;
import sluice.testkit.PostgresDatabase;
import sluice.testkit.TcpProxy;

/// A network that swallows packets: no end of the connection is told, nothing comes any more.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SilentServerPgTest {
    /// Past the three status intervals and the 20 seconds at least for which silence is borne.
    private static final Duration TOO_LONG = Duration.ofSeconds(21);

    private final PostgresDatabase database = prepared();

    private static PostgresDatabase prepared() {
        PostgresDatabase database = PostgresCluster.of(PostgresCluster.NEWEST)
                .createDatabase("silent")
                .withStandardRoles();
        database.execute(
                "CREATE TABLE notes (id int PRIMARY KEY, body text)", "CREATE PUBLICATION sluice FOR TABLE notes");
        return database;
    }

    @AfterAll
    void close() {
        database.close();
    }

    private void insert(int id) {
        database.execute("INSERT INTO notes VALUES (" + id + ", 'x')");
    }

    private static long failures(ReaderHarness harness) {
        return harness.notices.stream()
                .filter(notice -> notice.message().equals("the replication connection failed"))
                .count();
    }

    @Test
    void b39_a_connection_that_falls_silent_is_given_up_and_every_row_arrives_once_after_healing() {
        try (TcpProxy proxy = TcpProxy.to(database.cluster().port());
                ReaderHarness harness = new ReaderHarness(
                                database,
                                ReaderHarness.Options.slot("silent")
                                        .url("connect_timeout=1")
                                        .through(proxy.port()))
                        .streaming()) {
            insert(1);
            Await.until("the commit", () -> harness.commits.size() == 1);
            assertThat(harness.reader.isHeard()).isTrue();
            assertThat(harness.reader.unheard()).isZero();

            proxy.stall(TcpProxy.Direction.TO_CLIENT);
            proxy.stall(TcpProxy.Direction.TO_SERVER);
            insert(2);
            harness.advance(Duration.ofSeconds(6));
            assertThat(harness.reader.isHeard()).isFalse();
            assertThat(harness.reader.unheard()).isGreaterThanOrEqualTo(Duration.ofSeconds(6));
            assertThat(harness.reader.state()).isEqualTo(ReaderState.STREAMING);
            harness.advance(TOO_LONG);
            Await.until("the connection is given up", () -> failures(harness) >= 1);
            // whoever takes a connection and never answers is not waited for either
            Await.until("a new connection is given up", () -> {
                harness.advance(Duration.ofSeconds(31));
                return failures(harness) >= 2;
            });
            assertThat(harness.rows()).containsExactly("INSERT 1");
            assertThat(harness.reader.isHeard()).isFalse();
            // from the last byte that came, over all connections since
            assertThat(harness.reader.unheard())
                    .isGreaterThanOrEqualTo(Duration.ofSeconds(6).plus(TOO_LONG));

            proxy.cut();
            proxy.pass();
            insert(3);
            Await.until("the reader streams again", () -> {
                harness.advance(Duration.ofMillis(100));
                return harness.commits.size() == 3;
            });
            insert(4);
            Await.until("the last row", () -> harness.rows().contains("INSERT 4"));
            assertThat(harness.rows()).containsExactly("INSERT 1", "INSERT 2", "INSERT 3", "INSERT 4");
            assertThat(harness.reader.isHeard()).isTrue();
            assertThat(harness.reader.unheard()).isZero();
        }
    }

    @Test
    void a_server_that_is_heard_now_and_then_is_not_given_up() {
        try (TcpProxy proxy = TcpProxy.to(database.cluster().port());
                ReaderHarness harness = new ReaderHarness(
                                database, ReaderHarness.Options.slot("heard").through(proxy.port()))
                        .streaming()) {
            for (int i = 0; i < 4; i++) {
                long before = proxy.bytes(TcpProxy.Direction.TO_CLIENT);
                harness.advance(Duration.ofSeconds(15));
                Await.until(
                        "the server is heard",
                        () -> proxy.bytes(TcpProxy.Direction.TO_CLIENT) > before && harness.reader.isHeard());
            }
            assertThat(failures(harness)).isZero();
            assertThat(harness.reader.state()).isEqualTo(ReaderState.STREAMING);
        }
    }

    @Test
    void messages_are_counted_as_they_are_decoded_and_not_as_they_are_netted() {
        try (ReaderHarness harness = new ReaderHarness(database, ReaderHarness.Options.slot("counted")).streaming()) {
            database.execute("""
                    DO $$ BEGIN
                      INSERT INTO notes VALUES (100, 'a');
                      UPDATE notes SET body = 'b' WHERE id = 100;
                      UPDATE notes SET body = 'c' WHERE id = 100;
                      DELETE FROM notes WHERE id = 100;
                    END $$""");
            Await.until("the commit is counted", () -> harness.decoded.getOrDefault("commit", 0L) == 1);
            assertThat(harness.rows()).isEmpty();
            assertThat(harness.decoded)
                    .containsEntry("begin", 1L)
                    .containsEntry("relation", 1L)
                    .containsEntry("insert", 1L)
                    .containsEntry("update", 2L)
                    .containsEntry("delete", 1L);
        }
    }
}
