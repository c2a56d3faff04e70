package sluice.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.shape.ChannelRequest;
import sluice.core.shape.ShapeRequest;
import sluice.core.shape.SubscriptionRequest;
import sluice.core.stream.StreamState.Framing;

class SubscriptionsBodyTest {
    private static List<SubscriptionRequest> parse(String json) {
        return SubscriptionsBody.Opening.of(json.getBytes(StandardCharsets.UTF_8))
                .subscriptions();
    }

    private static SubscriptionRequest entry(String json) {
        return parse("{\"subscriptions\":[" + json + "]}").get(0);
    }

    @Test
    void transactions_are_framed_when_asked_for() {
        assertThat(framing("")).isEqualTo(Framing.NONE);
        assertThat(framing("{}")).isEqualTo(Framing.NONE);
        assertThat(framing("{\"transactions\":null}")).isEqualTo(Framing.NONE);
        assertThat(framing("{\"transactions\":false}")).isEqualTo(Framing.NONE);
        assertThat(framing("{\"transactions\":true}")).isEqualTo(Framing.TRANSACTIONS);
    }

    private static Framing framing(String json) {
        return SubscriptionsBody.Opening.of(json.getBytes(StandardCharsets.UTF_8))
                .framing();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  \r\n\t", "{}", "{\"subscriptions\":[]}", "{\"subscriptions\":null}"})
    void a_stream_may_have_no_subscriptions(String body) {
        assertThat(parse(body)).isEmpty();
    }

    @Test
    void a_request_has_as_many_entries_as_a_stream_may_ever_have_and_not_one_more() {
        assertThat(parse(entries(10_000))).hasSize(10_000);
        assertThatThrownBy(() -> parse(entries(10_001))).isInstanceOfSatisfying(RequestException.class, refused -> {
            assertThat(refused.code()).isEqualTo(ErrorCode.BAD_REQUEST);
            assertThat(refused).hasMessageContaining("more than 10000 entries");
        });
    }

    private static String entries(int count) {
        return "{\"subscriptions\":[" + "0,".repeat(count - 1) + "0]}";
    }

    @Test
    void a_channel_has_a_name_of_at_most_256_characters() {
        String longest = "room:" + "x".repeat(251);
        assertThat(entry("{\"sub\":\"a\",\"channel\":\"" + longest + "\"}").problem())
                .isNull();
        assertThat(entry("{\"sub\":\"a\",\"channel\":\"" + longest + "x\"}").problem())
                .contains("longer than 256");
    }

    @Test
    void every_member_is_read_as_written() {
        SubscriptionRequest read = entry("""
            {"sub":"docs","shape":{"schema":"App","table":"T","filter":"a=eq.1","columns":["b","a"],
             "ops":["insert"," * "],"transitions":true,"initial":"none"}}\
            """);
        assertThat(read)
                .isEqualTo(new SubscriptionRequest(
                        "docs",
                        new ShapeRequest(
                                "App",
                                "T",
                                "a=eq.1",
                                List.of("b", "a"),
                                List.of("insert", " * "),
                                ShapeRequest.Transitions.REPORTED,
                                List.of()),
                        null));
    }

    @Test
    void the_schema_is_public_unless_said_otherwise() {
        assertThat(entry("{\"sub\":\"d\",\"shape\":{\"table\":\"t\"}}"))
                .isEqualTo(new SubscriptionRequest(
                        "d",
                        new ShapeRequest(
                                "public", "t", null, null, null, ShapeRequest.Transitions.NOT_REPORTED, List.of()),
                        null));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"resume\":[]} | \"resume\" must be an object",
                "{\"transactions\":1} | \"transactions\" must be true or false",
                "{\"subs\":[]} | unknown member \"subs\"",
                "[] | the body must be a JSON object",
                "\"x\" | the body must be a JSON object",
                "{\"subscriptions\":{}} | \"subscriptions\" must be an array",
                "{\"subscriptions\":[]} {} | the body is not valid JSON",
                "{\"subscriptions\":[],\"subscriptions\":[]} | the body is not valid JSON",
                "{\"subscriptions\":[} | the body is not valid JSON",
                "{subscriptions:[]} | the body is not valid JSON",
                "nul | the body is not valid JSON"
            })
    void a_body_that_cannot_be_read_is_a_bad_request(String body, String message) {
        assertThatThrownBy(() -> parse(body))
                .isInstanceOfSatisfying(
                        RequestException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST))
                .hasMessage(message);
    }

    @Test
    void bytes_that_are_not_utf8_are_a_bad_request() {
        byte[] body = "{\"subscriptions\":[{\"sub\":\"\u00e9\"}]}".getBytes(StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> SubscriptionsBody.Opening.of(body)).hasMessage("the body is not valid JSON");
    }

    @Test
    void a_channel_is_asked_for_with_or_without_the_list_of_members() {
        List<SubscriptionRequest> read = parse("""
            {"subscriptions":[{"sub":"a","channel":"room:1","presence":true},{"sub":"b","channel":"room:2"}]}
            """);

        assertThat(read.get(0).target()).isEqualTo(new ChannelRequest("room:1", ChannelRequest.Members.LISTED));
        assertThat(read.get(1).target()).isEqualTo(new ChannelRequest("room:2", ChannelRequest.Members.NOT_LISTED));
    }

    @Test
    void a_channel_with_a_name_too_long_is_refused() {
        assertThat(parse("{\"subscriptions\":[{\"sub\":\"a\",\"channel\":\"room:" + "x".repeat(252) + "\"}]}")
                        .getFirst()
                        .problem())
                .isEqualTo("\"channel\" is longer than 256 characters");
    }

    @Test
    void deep_nesting_is_a_bad_request_and_no_overflow() {
        assertThatThrownBy(() -> parse("{\"subscriptions\":" + "[".repeat(500_000)))
                .hasMessage("the body is not valid JSON");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"sub\":\"a\",\"channel\":7} | \"channel\" must be a string",
                "{\"sub\":\"a\",\"channel\":\"room:1\",\"presence\":\"yes\"} | \"presence\" must be true or false",
                "{\"sub\":\"a\",\"channel\":\"room:1\",\"shape\":{\"table\":\"t\"}} | a subscription has a shape or a"
                        + " channel, not both",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\"},\"presence\":true} | a subscription has a shape or a"
                        + " channel, not both",
                "{\"sub\":\"a\",\"shapes\":{}} | unknown member \"shapes\"",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"where\":\"x\"}} | unknown member \"where\"",
                "{\"sub\":1} | \"sub\" must be a string",
                "{\"sub\":\"a\",\"shape\":\"t\"} | \"shape\" must be an object",
                "{\"sub\":\"a\",\"shape\":{}} | \"table\" is missing",
                "{\"sub\":\"a\",\"shape\":{\"table\":7}} | \"table\" must be a string",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"filter\":[]}} | \"filter\" must be a string",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"columns\":\"a\"}} | \"columns\" must be an array of"
                        + " strings",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"ops\":[1]}} | \"ops\" must be an array of strings",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"transitions\":\"yes\"}} | \"transitions\" must be true or"
                        + " false",
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"initial\":\"all\"}} | \"initial\" must be \"none\" or"
                        + " \"snapshot\"",
                "7 | a subscription must be an object"
            })
    void an_entry_that_cannot_be_read_says_why_and_harms_no_other(String json, String problem) {
        List<SubscriptionRequest> read =
                parse("{\"subscriptions\":[" + json + ",{\"sub\":\"b\",\"shape\":{\"table\":\"t\"}}]}");
        assertThat(read.get(0).problem()).isEqualTo(problem);
        assertThat(read.get(0).shape()).isNull();
        assertThat(read.get(1).problem()).isNull();
        assertThat(read.get(1).shape()).isNotNull();
    }

    @Test
    void members_of_later_versions_are_named_and_not_ignored() {
        SubscriptionRequest read = entry(
                "{\"sub\":\"a\",\"shape\":{\"table\":\"t\",\"track\":true,\"resync\":true,\"initial\":\"snapshot\"}}");
        ShapeRequest shape = Objects.requireNonNull(read.shape());
        assertThat(shape.unsupported()).containsExactly("track", "resync");
        assertThat(shape.initial()).isEqualTo(ShapeRequest.Initial.SNAPSHOT);
    }

    @Test
    void a_label_has_a_bound() {
        assertThat(entry("{\"sub\":\"" + "x".repeat(257) + "\",\"shape\":{\"table\":\"t\"}}"))
                .isEqualTo(new SubscriptionRequest("", null, "\"sub\" is longer than 256 characters"));
        assertThat(entry("{\"sub\":\"" + "x".repeat(256) + "\",\"shape\":{\"table\":\"t\"}}")
                        .problem())
                .isNull();
    }
}
