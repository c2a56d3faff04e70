package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import sluice.core.event.EventBody;
import sluice.core.stream.StreamHandle;
import sluice.server.logging.LogFormat;
import sluice.server.logging.LogLevel;
import sluice.server.logging.LogSetup;

/// Real requests whose every secret carries a mark, at the most talkative level.
class SecretsStayOutOfLogsTest {
    private static final String MARK = "S3CR3T";
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @AfterEach
    void restore() throws Exception {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(SecretsStayOutOfLogsTest.class.getResource("/logback-test.xml"));
    }

    private String written() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @EnumSource(LogFormat.class)
    void no_token_claim_body_or_row_value_is_ever_logged(LogFormat format) throws Exception {
        LogSetup.apply(format, LogLevel.DEBUG, out);
        String token;
        try (TestServer server = new TestServer(
                TestServer.times(t -> TestServer.shortTimes(Duration.ofMillis(200), Duration.ofSeconds(5))))) {
            token = server.tokens.sign("{\"sub\":\"" + MARK + "-sub\",\"role\":\"authenticated\",\"email\":\"" + MARK
                    + "@x\",\"exp\":" + Instant.now().plusSeconds(2).getEpochSecond() + "}");
            try (RawClient client = server.client()) {
                client.openStream(MARK + "." + MARK + "." + MARK);
                assertThat(client.reply().status()).isEqualTo(401);
                client.openStream(token.substring(0, token.length() - 4) + "AAAA");
                assertThat(client.reply().status()).isEqualTo(401);
                client.openStream(server.tokens.sign("{\"role\":\"" + MARK + "\",\"exp\":4102444800}"));
                assertThat(client.reply().status()).isEqualTo(401);
                client.openStream(token, "{\"subscriptions\":[" + MARK);
                assertThat(client.reply().status()).isEqualTo(400);
                client.send("GET /nothing?token=" + token + " HTTP/1.1\r\nHost: a\r\nCookie: " + MARK + "\r\n\r\n");
                assertThat(client.reply().status()).isEqualTo(404);
                client.send("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n" + MARK);
                assertThat(client.reply().status()).isEqualTo(404);
            }
            try (RawClient client = server.client()) {
                client.openStream(
                        token,
                        "{\"subscriptions\":[{\"sub\":\"d\",\"shape\":{\"table\":\"t\",\"filter\":\"a=eq." + MARK
                                + "\"}}]}");
                TestServer.assertReady(client);
                StreamHandle stream = server.nextOpened();
                byte[] tail =
                        ("\"op\":\"INSERT\",\"record\":{\"a\":\"" + MARK + "\"}}\n\n").getBytes(StandardCharsets.UTF_8);
                server.engine(() -> {
                    server.shards()
                            .change(
                                    stream,
                                    TestServer.TAG,
                                    1,
                                    new EventBody("0/1".getBytes(StandardCharsets.UTF_8), tail));
                    server.shards().endCommit();
                });
                while (!client.event().contains("token_expired")) {
                    // until the token runs out
                }
                server.closed.poll(5, TimeUnit.SECONDS);
            }
        }
        assertThat(written())
                .contains("request refused", "stream ended", "token_expired")
                .doesNotContain(MARK);
        for (String part : List.of(token, token.split("\\.")[1], token.split("\\.")[2])) {
            assertThat(written()).doesNotContain(part);
        }
    }

    @Test
    void json_lines_begin_with_time_level_and_message_and_keep_one_line_each() throws Exception {
        LogSetup.apply(LogFormat.JSON, LogLevel.INFO, out);
        try (TestServer server = new TestServer();
                RawClient client = server.client()) {
            client.send("GET /a HTTP/1.1\r\nHost: a\r\nX-Request-ID: my-id\r\n\r\n");
            assertThat(client.reply().status()).isEqualTo(404);
        }
        String line = written().lines().findFirst().orElse("");
        JsonNode json = new ObjectMapper().readTree(line);
        assertThat(json.fieldNames())
                .toIterable()
                .containsExactly("time", "level", "msg", "request_id", "path", "status", "code", "reason");
        assertThat(json.get("request_id").textValue()).isEqualTo("my-id");
        assertThat(Instant.parse(json.get("time").textValue()))
                .isBefore(Instant.now().plusSeconds(60));
    }
}
