package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.epoll.Epoll;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.stream.StreamHandle;

/// Clients that are gone without a word, or never read.
class VanishedClientTest {
    /// All that was written fits into the kernel's buffers, so no write of ours ever waits. Of packets that get
    /// lost the kernel learns by the same clock.
    @Test
    void a_client_that_takes_nothing_is_given_up_though_no_write_waits_for_it() throws Exception {
        assumeTrue(Epoll.isAvailable(), "only there the kernel can be told how long to wait");
        try (TestServer server = new TestServer(settings -> TestServer.limits(
                                limits -> new HttpSettings.Limits(0, 100, 256, 4 << 20, 1 << 20, 1_000))
                        .apply(TestServer.times(
                                        times -> TestServer.shortTimes(Duration.ofMillis(200), Duration.ofSeconds(1)))
                                .apply(settings)));
                RawClient deaf = new RawClient(server.port(), 4096)) {
            deaf.openStream(server.tokens.of("bob"));
            StreamHandle stream = server.nextOpened();
            server.commit(List.of(stream), 1, 1, 100_000);
            assertThat(server.nextClosed().stream()).isEqualTo(stream);
        }
    }
}
