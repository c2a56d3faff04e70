package sluice.server.jwks;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.impl.ECDSA;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.session.IdType;
import sluice.core.session.Identity;
import sluice.core.session.RevocationList;
import sluice.core.session.Revocations;
import sluice.core.value.Oid;
import sluice.core.value.PgType;
import sluice.core.wal.Lsn;

/// What is accepted, and everything that is not.
class TokenVerifierTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final long SECOND = NOW.getEpochSecond();
    private static ECKey key;
    private static ECKey stranger;
    private static RSAKey rsa;

    @BeforeAll
    static void makeKeys() throws JOSEException {
        key = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
        stranger = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
        rsa = new RSAKeyGenerator(2048).keyID("r1").generate();
    }

    private static TokenVerifier verifier(SigningAlgorithm algorithm, @Nullable String issuer) throws JwksException {
        byte[] set = new JWKSet(List.of(key.toPublicJWK(), rsa.toPublicJWK()))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        JwksCache cache = JwksCache.load(() -> set, algorithm, Duration.ofMinutes(5), () -> 0);
        TokenRules rules = new TokenRules(
                algorithm, issuer, "authenticated", Duration.ofSeconds(10), List.of("anon", "authenticated"));
        return new TokenVerifier(rules, cache, InstantSource.fixed(NOW));
    }

    private static String signed(String payload) throws JOSEException {
        return signed(new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build(), new ECDSASigner(key), payload);
    }

    private static String signed(JWSHeader header, JWSSigner signer, String payload) throws JOSEException {
        JWSObject token = new JWSObject(header, new Payload(payload));
        token.sign(signer);
        return token.serialize();
    }

    private static String claims(String more) {
        return "{\"sub\":\"alice\",\"role\":\"authenticated\",\"exp\":" + (SECOND + 60) + more + "}";
    }

    private static Identity accepted(String token) throws JwksException {
        Verification verification = verifier(SigningAlgorithm.ES256, null).verify(token);
        assertThat(verification).isInstanceOf(Verification.Verified.class);
        return ((Verification.Verified) verification).identity();
    }

    private static String refused(String token) throws JwksException {
        return refused(verifier(SigningAlgorithm.ES256, null), token);
    }

    private static String refused(TokenVerifier verifier, String token) {
        Verification verification = verifier.verify(token);
        assertThat(verification).isInstanceOf(Verification.Refused.class);
        return ((Verification.Refused) verification).reason();
    }

    @Test
    void a_token_is_as_long_as_may_be_and_not_a_character_longer() throws Exception {
        int padding = TokenVerifier.TOKEN_CHARS_MAX * 3 / 4;
        while (signed(claims(",\"pad\":\"" + "x".repeat(padding) + "\"")).length() > TokenVerifier.TOKEN_CHARS_MAX) {
            padding--;
        }
        String longest = signed(claims(",\"pad\":\"" + "x".repeat(padding) + "\""));
        assertThat(longest.length()).isGreaterThan(TokenVerifier.TOKEN_CHARS_MAX - 4);
        accepted(longest);
        assertThat(refused(signed(claims(",\"pad\":\"" + "x".repeat(padding + 1) + "\""))))
                .contains("longer than 16384 characters");
    }

    @Test
    void a_good_token_speaks_for_its_subject_with_its_claims_as_signed() throws Exception {
        String payload = "{ \"sub\":\"Alice-Ä\", \"role\":\"authenticated\",\"exp\":" + (SECOND + 60)
                + ",\"big\":9007199254740993,\"exact\":1.10, \"aud\":[\"x\",\"authenticated\"]}";
        Identity identity = accepted(signed(payload));
        assertThat(identity.subject()).isEqualTo("Alice-Ä");
        assertThat(identity.role()).isEqualTo("authenticated");
        assertThat(identity.claims()).isEqualTo(payload);
        assertThat(identity.expiresAt()).isEqualTo(NOW.plusSeconds(60));
        assertThat(identity.toString()).doesNotContain("Alice", "9007");
    }

    @Test
    void a_token_without_a_subject_needs_no_audience() throws Exception {
        String payload = "{\"role\":\"anon\",\"exp\":" + (SECOND + 60) + ",\"aud\":\"other\"}";
        assertThat(accepted(signed(payload)).subject()).isNull();
    }

    @Test
    void a_token_with_a_subject_passes_without_audience_but_not_with_another() throws Exception {
        assertThat(accepted(signed(claims(""))).subject()).isEqualTo("alice");
        assertThat(refused(signed(claims(",\"aud\":\"other\"")))).isEqualTo("the token is for another audience");
        assertThat(refused(signed(claims(",\"aud\":[\"a\",\"b\"]")))).isEqualTo("the token is for another audience");
        assertThat(refused(signed(claims(",\"aud\":{\"x\":\"authenticated\"}"))))
                .isEqualTo("the token is for another audience");
        assertThat(refused(signed(claims(",\"aud\":[]")))).isEqualTo("the token is for another audience");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"exp\":%d,\"role\":\"authenticated\" | -10 | the token has expired",
                "\"exp\":%d,\"role\":\"authenticated\" | -3600 | the token has expired",
                "\"exp\":\"%d\",\"role\":\"authenticated\" | 60 | the token's \"exp\" is not a number",
                "\"exp\":null,\"x\":%d,\"role\":\"authenticated\" | 60 | the token's \"exp\" is not a number",
                "\"x\":%d,\"role\":\"authenticated\" | 60 | the token has no \"exp\"",
                "\"exp\":%d | 60 | the token has no \"role\"",
                "\"exp\":%d,\"role\":\"service_role\" | 60 | the token's role is not allowed",
                "\"exp\":%d,\"role\":\"AUTHENTICATED\" | 60 | the token's role is not allowed",
                "\"exp\":%d,\"role\":\"\" | 60 | the token has no \"role\"",
                "\"exp\":%d,\"role\":[\"authenticated\"] | 60 | the token's \"role\" is not a string",
                "\"exp\":%d,\"role\":\"authenticated\",\"sub\":7 | 60 | the token's \"sub\" is not a string",
                "\"exp\":%d,\"role\":\"anon\",\"role\":\"authenticated\" | 60 | the token's payload is not plain JSON"
            })
    void claims_that_do_not_hold_are_refused(String members, long offset, String reason) throws Exception {
        String payload = "{" + String.format(members, SECOND + offset) + "}";
        assertThat(refused(signed(payload))).isEqualTo(reason);
    }

    @Test
    void the_leeway_covers_clocks_that_differ() throws Exception {
        String late = "{\"role\":\"anon\",\"exp\":" + (SECOND - 9) + ",\"nbf\":" + (SECOND + 10) + "}";
        assertThat(accepted(signed(late)).expiresAt()).isEqualTo(NOW.minusSeconds(9));
        String early = "{\"role\":\"anon\",\"exp\":" + (SECOND + 60) + ",\"nbf\":" + (SECOND + 11) + "}";
        assertThat(refused(signed(early))).isEqualTo("the token is not valid yet");
    }

    @Test
    void a_time_beyond_every_calendar_is_only_late() throws Exception {
        String payload = "{\"role\":\"anon\",\"exp\":1e300}";
        assertThat(accepted(signed(payload)).expiresAt()).isAfter(NOW);
        assertThat(refused(signed("{\"role\":\"anon\",\"exp\":-1e300}"))).isEqualTo("the token has expired");
    }

    @Test
    void the_issuer_is_exact_when_it_is_set() throws Exception {
        TokenVerifier strict = verifier(SigningAlgorithm.ES256, "https://a");
        assertThat(strict.verify(signed(claims(",\"iss\":\"https://a\"")))).isInstanceOf(Verification.Verified.class);
        assertThat(refused(strict, signed(claims(",\"iss\":\"https://a/\"")))).contains("another issuer");
        assertThat(refused(strict, signed(claims("")))).contains("another issuer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "None", "NONE", "nOnE"})
    void a_token_without_a_signature_is_refused(String algorithm) throws Exception {
        String head = Base64URL.encode("{\"alg\":\"" + algorithm + "\",\"kid\":\"k1\"}")
                .toString();
        String body = Base64URL.encode(claims("")).toString();
        assertThat(refused(head + "." + body + ".")).isNotEmpty();
        assertThat(refused(head + "." + body + ".AAAA")).isNotEmpty();
        assertThat(refused(head + "." + body)).isNotEmpty();
    }

    @Test
    void a_public_key_used_as_a_shared_secret_signs_nothing() throws Exception {
        byte[] secret = key.toPublicJWK().toJSONString().getBytes(StandardCharsets.UTF_8);
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("k1").build();
        assertThat(refused(signed(header, new MACSigner(secret), claims(""))))
                .isEqualTo("the token is not signed with ES256");
        byte[] encoded = key.toECPublicKey().getEncoded();
        assertThat(refused(signed(header, new MACSigner(encoded), claims(""))))
                .isEqualTo("the token is not signed with ES256");
    }

    @Test
    void the_algorithm_is_pinned_even_if_the_set_has_the_other_key() throws Exception {
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("r1").build();
        String token = signed(header, new RSASSASigner(rsa), claims(""));
        assertThat(refused(token)).isEqualTo("the token is not signed with ES256");
        assertThat(verifier(SigningAlgorithm.RS256, null).verify(token)).isInstanceOf(Verification.Verified.class);
        assertThat(refused(verifier(SigningAlgorithm.RS256, null), signed(claims(""))))
                .isEqualTo("the token is not signed with RS256");
    }

    @Test
    void a_stranger_with_the_right_key_id_is_refused() throws Exception {
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build();
        assertThat(refused(signed(header, new ECDSASigner(stranger), claims(""))))
                .isEqualTo("the token's signature does not hold");
    }

    @Test
    void b46_a_signature_in_der_is_refused() throws Exception {
        String token = signed(claims(""));
        int end = token.lastIndexOf('.') + 1;
        byte[] raw = new Base64URL(token.substring(end)).decode();
        String der = Base64URL.encode(ECDSA.transcodeSignatureToDER(raw)).toString();
        assertThat(accepted(token).subject()).isEqualTo("alice");
        assertThat(refused(token.substring(0, end) + der)).isNotEmpty();
    }

    @Test
    void b46_a_key_replaced_under_its_id_is_accepted_after_the_refresh_and_the_old_one_refused() throws Exception {
        AtomicReference<ECKey> published = new AtomicReference<>(stranger);
        AtomicLong nanos = new AtomicLong();
        JwksCache cache = JwksCache.load(
                () -> new JWKSet(published.get().toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8),
                SigningAlgorithm.ES256,
                Duration.ofMinutes(5),
                nanos::get);
        TokenRules rules = new TokenRules(
                SigningAlgorithm.ES256, null, "authenticated", Duration.ofSeconds(10), List.of("authenticated"));
        TokenVerifier verifier = new TokenVerifier(rules, cache, InstantSource.fixed(NOW));
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build();
        String old = signed(header, new ECDSASigner(stranger), claims(""));
        assertThat(verifier.verify(old)).isInstanceOf(Verification.Verified.class);

        published.set(key);
        nanos.addAndGet(Duration.ofMinutes(5).toNanos());
        cache.refreshIfDue();

        assertThat(verifier.verify(signed(claims("")))).isInstanceOf(Verification.Verified.class);
        assertThat(refused(verifier, old)).isEqualTo("the token's signature does not hold");
    }

    @Test
    void a_key_a_token_brings_along_is_not_used() throws Exception {
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.ES256)
                .keyID("k1")
                .jwk(stranger.toPublicJWK())
                .build();
        assertThat(refused(signed(header, new ECDSASigner(stranger), claims(""))))
                .isEqualTo("the token's signature does not hold");
    }

    @Test
    void an_unknown_key_id_is_refused_and_a_missing_one_tries_every_key() throws Exception {
        JWSHeader unknown =
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k9").build();
        assertThat(refused(signed(unknown, new ECDSASigner(key), claims(""))))
                .isEqualTo("the token's key is not known");
        JWSHeader missing = new JWSHeader.Builder(JWSAlgorithm.ES256).build();
        assertThat(accepted(signed(missing, new ECDSASigner(key), claims(""))).subject())
                .isEqualTo("alice");
    }

    @Test
    void a_critical_extension_is_refused() throws Exception {
        JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.ES256)
                .keyID("k1")
                .criticalParams(Set.of("exp"))
                .customParam("exp", SECOND)
                .build();
        assertThat(refused(signed(header, new ECDSASigner(key), claims("")))).contains("extension");
    }

    @Test
    void every_single_changed_character_breaks_a_token() throws Exception {
        String token = signed(claims(""));
        TokenVerifier verifier = verifier(SigningAlgorithm.ES256, null);
        // the last character of a part may hold bits that no byte is made of
        for (int i = 0; i < token.length(); i++) {
            boolean lastOfPart = i + 1 == token.length() || token.charAt(i + 1) == '.';
            if (token.charAt(i) == '.' || lastOfPart) {
                continue;
            }
            char other = token.charAt(i) == 'A' ? 'B' : 'A';
            String changed = token.substring(0, i) + other + token.substring(i + 1);
            assertThat(verifier.verify(changed)).as("character %d", i).isInstanceOf(Verification.Refused.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sb_publishable_abc", "sb_secret_a.b.c", "", "x", "..", "a.b.c", "e30.e30.e30", "🦊.🦊.🦊"})
    void what_is_no_token_is_refused(String text) throws Exception {
        assertThat(refused(text)).isNotEmpty();
    }

    @Test
    void a_token_has_a_size_bound() throws Exception {
        assertThat(refused(signed(claims(",\"pad\":\"" + "x".repeat(16_384) + "\""))))
                .isEqualTo("the token is longer than 16384 characters");
    }

    @Test
    void a_payload_that_is_not_utf8_or_no_object_is_refused() throws Exception {
        JWSObject token = new JWSObject(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build(),
                new Payload("{\"role\":\"anon\",\"n\":\"é\"}".getBytes(StandardCharsets.ISO_8859_1)));
        token.sign(new ECDSASigner(key));
        assertThat(refused(token.serialize())).isEqualTo("the token's payload is not UTF-8");
        assertThat(refused(signed("[1]"))).isEqualTo("the token's payload is not an object");
        assertThat(refused(signed("{\"role\":\"anon\"} {}"))).isEqualTo("the token's payload is not plain JSON");
    }

    @Test
    void the_session_is_a_text_as_it_was_written_or_a_whole_number() throws Exception {
        assertThat(accepted(signed(claims(",\"session_id\":\"AB-\u00e9\""))).session())
                .isEqualTo("AB-\u00e9");
        assertThat(accepted(signed(claims(",\"session_id\":9007199254740993"))).session())
                .isEqualTo("9007199254740993");
        assertThat(accepted(signed(claims(""))).session()).isNull();
        assertThat(accepted(signed(claims(",\"session_id\":null"))).session()).isNull();
        assertThat(accepted(signed(claims(",\"session_id\":\"\""))).session()).isNull();
        assertThat(refused(signed(claims(",\"session_id\":1.5"))))
                .isEqualTo("the token's \"session_id\" is not a string");
        assertThat(refused(signed(claims(",\"session_id\":[\"a\"]"))))
                .isEqualTo("the token's \"session_id\" is not a string");
    }

    @Test
    void the_time_of_issue_is_kept_and_another_kind_of_value_is_none() throws Exception {
        assertThat(accepted(signed(claims(",\"iat\":" + SECOND))).issuedAt()).isEqualTo(NOW);
        assertThat(accepted(signed(claims(",\"iat\":\"" + SECOND + "\""))).issuedAt())
                .isNull();
        assertThat(accepted(signed(claims(""))).issuedAt()).isNull();
    }

    @Test
    void a_token_whose_session_has_ended_is_refused_wherever_tokens_are() throws Exception {
        RevocationList list = new RevocationList(10, 10, RevocationList.Forgotten.REFUSED);
        list.compareAs(IdType.of(new PgType.Base(Oid.TEXT, "text")), null);
        list.sessionEnded("s1", new Revocations.Moment(Lsn.ZERO, NOW));
        byte[] set = new JWKSet(List.of(key.toPublicJWK())).toString().getBytes(StandardCharsets.UTF_8);
        TokenVerifier verifier = new TokenVerifier(
                new TokenRules(SigningAlgorithm.ES256, null, "authenticated", Duration.ZERO, List.of("authenticated")),
                JwksCache.load(() -> set, SigningAlgorithm.ES256, Duration.ofMinutes(5), () -> 0),
                list,
                InstantSource.fixed(NOW));

        assertThat(refused(verifier, signed(claims(",\"session_id\":\"s1\""))))
                .isEqualTo("the token's session has ended");
        assertThat(verifier.verify(signed(claims(",\"session_id\":\"s2\"")))).isInstanceOf(Verification.Verified.class);
        // whether it may be served is not known now: the engine says so, and the client may ask again
        list.unseen();
        assertThat(verifier.verify(signed(claims(",\"session_id\":\"s2\"")))).isInstanceOf(Verification.Verified.class);
    }

    @Test
    void the_session_is_what_the_named_claim_says_and_no_other_claim() throws Exception {
        RevocationList list = new RevocationList(10, 10, RevocationList.Forgotten.REFUSED);
        list.compareAs(IdType.of(new PgType.Base(Oid.TEXT, "text")), null);
        list.sessionEnded("s1", new Revocations.Moment(Lsn.ZERO, NOW));
        byte[] set = new JWKSet(List.of(key.toPublicJWK())).toString().getBytes(StandardCharsets.UTF_8);
        TokenRules rules = new TokenRules(
                SigningAlgorithm.ES256, null, "authenticated", Duration.ZERO, List.of("authenticated"), "sid");
        TokenVerifier verifier = new TokenVerifier(
                rules,
                JwksCache.load(() -> set, SigningAlgorithm.ES256, Duration.ofMinutes(5), () -> 0),
                list,
                InstantSource.fixed(NOW));

        assertThat(refused(verifier, signed(claims(",\"sid\":\"s1\",\"session_id\":\"s2\""))))
                .isEqualTo("the token's session has ended");
        Verification other = verifier.verify(signed(claims(",\"sid\":\"s2\",\"session_id\":\"s1\"")));
        assertThat(other).isInstanceOf(Verification.Verified.class);
        assertThat(((Verification.Verified) other).identity().session()).isEqualTo("s2");
    }
}
