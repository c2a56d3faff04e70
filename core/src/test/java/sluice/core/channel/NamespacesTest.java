package sluice.core.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.channel.Namespaces.Decision;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.session.Identity;

class NamespacesTest {
    private final Namespaces namespaces = new Namespaces(List.of(
            new Namespace("room", new Namespace.Admission.Everyone()),
            new Namespace("notify", new Namespace.Admission.Owner()),
            new Namespace("team", new Namespace.Admission.Hook("http://localhost/hook"))));

    @Test
    void anybody_joins_a_public_channel_with_or_without_a_subject() {
        assertThat(decide("room:42", "alice")).isEqualTo(new Decision.Admitted());
        assertThat(decide("room:42", null)).isEqualTo(new Decision.Admitted());
        assertThat(decide("room:a:b", "alice")).isEqualTo(new Decision.Admitted());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rooms:42", "Room:42", " room:42", ":42", "42", "", "room", "ro:om:42"})
    void an_undeclared_namespace_is_refused_and_never_public(String channel) {
        refuses(ErrorCode.UNKNOWN_NAMESPACE, channel, "alice");
    }

    @Test
    void a_channel_needs_a_name_after_its_namespace() {
        refuses(ErrorCode.INVALID_SUBSCRIPTION, "room:", "alice");
    }

    @Test
    void an_owner_channel_is_joined_by_the_subject_its_name_ends_with() {
        assertThat(decide("notify:alice", "alice")).isEqualTo(new Decision.Admitted());
        assertThat(decide("notify:orders:alice", "alice")).isEqualTo(new Decision.Admitted());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"notify:bob", "notify:alice:bob", "notify:malice", "notify:Alice", "notify:alice ", "notify:alic"
            })
    void an_owner_channel_of_another_subject_is_refused(String channel) {
        refuses(ErrorCode.CHANNEL_NOT_AUTHORIZED, channel, "alice");
    }

    @Test
    void a_token_without_a_subject_owns_no_channel() {
        refuses(ErrorCode.CHANNEL_NOT_AUTHORIZED, "notify:alice", null);
        refuses(ErrorCode.CHANNEL_NOT_AUTHORIZED, "notify:null", null);
        refuses(ErrorCode.CHANNEL_NOT_AUTHORIZED, "notify:x:", "");
    }

    @Test
    void a_hook_channel_is_decided_by_its_endpoint_alone() {
        assertThat(decide("team:alice", "alice")).isInstanceOf(Decision.Ask.class);
    }

    @Test
    void tokens_without_a_session_share_a_verdict_only_if_their_claims_are_the_same() {
        HookKey one = HookKey.of("u", "team:1", ChannelStreams.caller(null, "{\"tenant\":1}"));

        assertThat(HookKey.of("u", "team:1", ChannelStreams.caller(null, "{\"tenant\":1}")))
                .isEqualTo(one);
        assertThat(HookKey.of("u", "team:1", ChannelStreams.caller(null, "{\"tenant\":2}")))
                .isNotEqualTo(one);
        assertThat(one.toString()).doesNotContain("tenant");
    }

    @Test
    void one_session_shares_a_verdict_whatever_its_tokens_say_besides() {
        HookKey one = HookKey.of("u", "team:1", ofSession("s1", "{\"iat\":1}"));

        assertThat(HookKey.of("u", "team:1", ofSession("s1", "{\"iat\":2}"))).isEqualTo(one);
        assertThat(HookKey.of("u", "team:1", ofSession("s2", "{\"iat\":1}"))).isNotEqualTo(one);
    }

    private static Identity ofSession(String session, String claims) {
        Identity caller = ChannelStreams.caller("alice", claims);
        return new Identity(
                caller.subject(), caller.role(), caller.claims(), caller.expiresAt(), session, caller.issuedAt());
    }

    private Decision decide(String channel, @Nullable String subject) {
        return namespaces.decide(channel, ChannelStreams.caller(subject));
    }

    private void refuses(ErrorCode code, String channel, @Nullable String subject) {
        assertThatExceptionOfType(RequestException.class)
                .isThrownBy(() -> decide(channel, subject))
                .satisfies(refused -> assertThat(refused.code()).isEqualTo(code));
    }
}
