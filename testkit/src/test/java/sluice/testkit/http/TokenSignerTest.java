package sluice.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.JWKSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenSignerTest {
    private final TokenSigner es256 = TokenSigner.es256("first");
    private final TokenSigner rs256 = TokenSigner.rs256("second");

    @Test
    void tokens_verify_with_the_published_keys() throws Exception {
        JWKSet published = JWKSet.parse(TokenSigner.jwks(List.of(es256, rs256)));
        JWSObject elliptic = JWSObject.parse(es256.sign(Claims.of("alice")));
        JWSObject rsa = JWSObject.parse(rs256.sign(Claims.of("alice")));
        assertThat(elliptic.getHeader().getKeyID()).isEqualTo("first");
        assertThat(elliptic.verify(
                        new ECDSAVerifier(published.getKeyByKeyId("first").toECKey())))
                .isTrue();
        assertThat(rsa.verify(
                        new RSASSAVerifier(published.getKeyByKeyId("second").toRSAKey())))
                .isTrue();
        assertThat(elliptic.getPayload().toJSONObject())
                .containsEntry("sub", "alice")
                .containsEntry("role", "authenticated")
                .containsKey("exp");
    }

    @Test
    void private_keys_and_secrets_are_not_published() throws Exception {
        JWKSet published = JWKSet.parse(
                TokenSigner.jwks(List.of(es256, rs256, TokenSigner.hs256("0123456789abcdef0123456789abcdef"))));
        assertThat(published.getKeys()).hasSize(2).noneMatch(key -> key.isPrivate());
    }

    @Test
    void a_tampered_token_does_not_verify() throws Exception {
        JWSObject tampered = JWSObject.parse(es256.tamper(Claims.of("alice"), Claims.of("bob")));
        JWKSet published = JWKSet.parse(TokenSigner.jwks(List.of(es256)));
        assertThat(tampered.getPayload().toJSONObject()).containsEntry("sub", "bob");
        assertThat(tampered.verify(
                        new ECDSAVerifier(published.getKeyByKeyId("first").toECKey())))
                .isFalse();
    }

    @Test
    void dishonest_tokens_look_as_they_should() throws Exception {
        assertThat(TokenSigner.unsigned(Claims.of("alice"))).matches("[\\w-]+\\.[\\w-]+\\.");
        assertThat(JWSObject.parse(es256.signAs(null, Claims.of("alice")))
                        .getHeader()
                        .getKeyID())
                .isNull();
        assertThat(JWSObject.parse(es256.signWithPublicKeyAsSecret(Claims.of("alice")))
                        .getHeader()
                        .getAlgorithm()
                        .getName())
                .isEqualTo("HS256");
    }

    @Test
    void claims_are_added_replaced_and_removed() {
        assertThat(Claims.none().with("a", 1).with("a", 2).with("b", null).json())
                .isEqualTo("{\"a\":2,\"b\":null}");
        assertThat(Claims.none().with("a", 1).without("a").json()).isEqualTo("{}");
    }
}
