package sluice.server.jwks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class JwksCacheTest {
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger fetches = new AtomicInteger();
    private volatile byte[] answer = new byte[0];
    private volatile boolean down;

    private static ECKey key(String id) throws JOSEException {
        return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
    }

    private static byte[] set(com.nimbusds.jose.jwk.JWK... keys) {
        return new JWKSet(List.of(keys)).toString(false).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] fetch() throws JwksException {
        fetches.incrementAndGet();
        if (down) {
            throw new JwksException("down");
        }
        return answer;
    }

    private JwksCache load() throws JwksException {
        return JwksCache.load(this::fetch, SigningAlgorithm.ES256, Duration.ofMinutes(5), nanos::get);
    }

    @Test
    void a_refresh_on_demand_fetches_at_once_and_keeps_the_keys_when_it_fails() throws Exception {
        answer = set(key("a"));
        JwksCache cache = load();
        answer = set(key("b"), new OctetSequenceKeyGenerator(256).keyID("s").generate());

        assertThat(cache.refresh()).isEqualTo(1);
        assertThat(fetches.get()).isEqualTo(2);
        assertThat(cache.candidates("b")).hasSize(1);
        assertThat(cache.candidates("s")).isEmpty();

        down = true;
        assertThatThrownBy(cache::refresh).isInstanceOf(JwksException.class);
        assertThat(cache.candidates("b")).hasSize(1);
    }

    @Test
    void twenty_tokens_with_an_unknown_key_cause_one_fetch() throws Exception {
        answer = set(key("a"));
        CountDownLatch hold = new CountDownLatch(1);
        AtomicInteger slowFetches = new AtomicInteger();
        byte[] first = answer;
        byte[] both = set(key("a"), key("b"));
        JwksCache cache = JwksCache.load(
                () -> {
                    if (slowFetches.getAndIncrement() == 0) {
                        return first;
                    }
                    try {
                        hold.await(5, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return both;
                },
                SigningAlgorithm.ES256,
                Duration.ofMinutes(5),
                nanos::get);
        List<Thread> callers = new ArrayList<>();
        AtomicInteger found = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            callers.add(Thread.ofVirtual()
                    .start(() -> found.addAndGet(cache.candidates("b").size())));
        }
        hold.countDown();
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(slowFetches.get()).isEqualTo(2);
        assertThat(found.get()).isEqualTo(20);
    }

    @Test
    void an_unknown_key_is_asked_for_at_most_every_ten_seconds() throws Exception {
        answer = set(key("a"));
        JwksCache cache = load();
        for (int i = 0; i < 5; i++) {
            assertThat(cache.candidates("b")).isEmpty();
        }
        assertThat(fetches.get()).isEqualTo(2);
        nanos.addAndGet(Duration.ofSeconds(10).toNanos());
        answer = set(key("a"), key("b"));
        assertThat(cache.candidates("b")).hasSize(1);
        assertThat(fetches.get()).isEqualTo(3);
    }

    @Test
    void a_failed_refresh_keeps_the_keys_there_are() throws Exception {
        answer = set(key("a"));
        JwksCache cache = load();
        down = true;
        nanos.addAndGet(Duration.ofMinutes(6).toNanos());
        cache.refreshIfDue();
        assertThat(fetches.get()).isEqualTo(2);
        assertThat(cache.candidates("a")).hasSize(1);
        down = false;
        answer = "nonsense".getBytes(StandardCharsets.UTF_8);
        cache.refreshIfDue();
        assertThat(cache.candidates("a")).hasSize(1);
    }

    @Test
    void a_refresh_comes_when_it_is_due_and_forgets_keys_that_are_gone() throws Exception {
        answer = set(key("a"));
        JwksCache cache = load();
        cache.refreshIfDue();
        assertThat(fetches.get()).isEqualTo(1);
        answer = set(key("b"));
        nanos.addAndGet(Duration.ofMinutes(5).toNanos());
        cache.refreshIfDue();
        assertThat(cache.candidates("b")).hasSize(1);
        assertThat(cache.candidates("a")).isEmpty();
    }

    @Test
    void without_a_usable_key_there_is_no_start() throws Exception {
        OctetSequenceKey secret = new OctetSequenceKeyGenerator(256).keyID("s").generate();
        answer = set(secret);
        assertThatThrownBy(this::load).hasMessage("the key set has no usable key for ES256");
        answer = set(new RSAKeyGenerator(2048).keyID("r").generate());
        assertThatThrownBy(this::load).hasMessage("the key set has no usable key for ES256");
        answer = set(new ECKeyGenerator(Curve.P_384).keyID("c").generate());
        assertThatThrownBy(this::load).hasMessage("the key set has no usable key for ES256");
        answer = "{\"keys\":[]}".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(this::load).hasMessage("the key set has no usable key for ES256");
        answer = "<html>".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(this::load).hasMessage("the answer is not a JSON Web Key Set");
    }

    @Test
    void a_symmetric_key_is_never_loaded() throws Exception {
        answer = set(key("a"), new OctetSequenceKeyGenerator(256).keyID("s").generate());
        JwksCache cache = load();
        assertThat(cache.candidates("s")).isEmpty();
        assertThat(cache.candidates(null)).hasSize(1);
    }

    @Test
    void a_key_for_encryption_or_another_algorithm_is_left_out() throws Exception {
        answer = set(
                key("a"),
                new ECKeyGenerator(Curve.P_256)
                        .keyID("e")
                        .keyUse(com.nimbusds.jose.jwk.KeyUse.ENCRYPTION)
                        .generate(),
                new ECKeyGenerator(Curve.P_256)
                        .keyID("h")
                        .algorithm(com.nimbusds.jose.JWSAlgorithm.ES256K)
                        .generate());
        assertThat(load().candidates(null)).hasSize(1);
    }

    /// An address that answers as each test wants.
    private static HttpServer answering(int status, String location, byte[] body) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            if (!location.isEmpty()) {
                exchange.getResponseHeaders().set("Location", location);
            }
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static HttpJwksSource source(HttpServer server, Duration timeout) {
        return new HttpJwksSource(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/jwks"), timeout);
    }

    @Test
    void a_redirect_is_not_followed() throws Exception {
        byte[] good = set(key("a"));
        HttpServer elsewhere = answering(200, "", good);
        HttpServer server =
                answering(302, "http://127.0.0.1:" + elsewhere.getAddress().getPort() + "/", new byte[0]);
        try (HttpJwksSource source = source(server, Duration.ofSeconds(5));
                HttpJwksSource direct = source(elsewhere, Duration.ofSeconds(5))) {
            assertThat(direct.fetch()).isEqualTo(good);
            assertThatThrownBy(source::fetch).hasMessage("the key set's address answered 302");
        } finally {
            server.stop(0);
            elsewhere.stop(0);
        }
    }

    @Test
    void a_body_over_a_mebibyte_is_not_read() throws Exception {
        HttpServer server = answering(200, "", new byte[(1 << 20) + 1]);
        try (HttpJwksSource source = source(server, Duration.ofSeconds(5))) {
            assertThatThrownBy(source::fetch).isInstanceOf(JwksException.class);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void an_address_that_never_answers_is_given_up() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        CountDownLatch end = new CountDownLatch(1);
        server.createContext("/", exchange -> {
            try {
                exchange.sendResponseHeaders(200, 100);
                exchange.getResponseBody().write('{');
                exchange.getResponseBody().flush();
                end.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        try (HttpJwksSource source = source(server, Duration.ofMillis(500))) {
            assertThatThrownBy(source::fetch).hasMessage("the key set's address did not answer within PT0.5S");
        } finally {
            end.countDown();
            server.stop(0);
        }
    }
}
