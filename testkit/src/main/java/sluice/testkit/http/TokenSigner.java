package sluice.testkit.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.factories.DefaultJWSSignerFactory;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Holds a private key and signs tokens with it, honestly or not.
public final class TokenSigner {
    private final JWK key;
    private final JWSAlgorithm algorithm;

    private TokenSigner(JWK key, JWSAlgorithm algorithm) {
        this.key = key;
        this.algorithm = algorithm;
    }

    public static TokenSigner es256(String keyId) {
        try {
            return new TokenSigner(
                    new ECKeyGenerator(Curve.P_256)
                            .keyID(keyId)
                            .keyUse(KeyUse.SIGNATURE)
                            .algorithm(JWSAlgorithm.ES256)
                            .generate(),
                    JWSAlgorithm.ES256);
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public static TokenSigner rs256(String keyId) {
        try {
            return new TokenSigner(
                    new RSAKeyGenerator(2048)
                            .keyID(keyId)
                            .keyUse(KeyUse.SIGNATURE)
                            .algorithm(JWSAlgorithm.RS256)
                            .generate(),
                    JWSAlgorithm.RS256);
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /// @param secret of at least 32 bytes
    public static TokenSigner hs256(String secret) {
        OctetSequenceKey key = new OctetSequenceKey.Builder(secret.getBytes(StandardCharsets.UTF_8)).build();
        return new TokenSigner(key, JWSAlgorithm.HS256);
    }

    /// The public keys, as a key server publishes them. Secrets of HS256 are left out.
    public static String jwks(List<TokenSigner> signers) {
        return new JWKSet(signers.stream().map(signer -> signer.key).toList()).toString();
    }

    public String publicKeyJson() {
        return key.toPublicJWK().toJSONString();
    }

    public String sign(Claims claims) {
        return sign(header(key.getKeyID()), claims.json());
    }

    /// Signed by this key but said to be by another, or by none.
    public String signAs(@Nullable String keyId, Claims claims) {
        return sign(header(keyId), claims.json());
    }

    /// A good signature over any payload, JSON or not.
    public String signText(String payload) {
        return sign(header(key.getKeyID()), payload);
    }

    /// The attack on verifiers that let the token choose its algorithm: HS256 with the public key as the secret.
    public String signWithPublicKeyAsSecret(Claims claims) {
        OctetSequenceKey secret = new OctetSequenceKey.Builder(publicKeyJson().getBytes(StandardCharsets.UTF_8))
                .keyID(key.getKeyID())
                .build();
        return new TokenSigner(secret, JWSAlgorithm.HS256).sign(claims);
    }

    /// Another payload under the signature of this token's own.
    public String tamper(Claims signed, Claims shown) {
        String[] parts = sign(signed).split("\\.");
        return parts[0] + "." + base64(shown.json()) + "." + parts[2];
    }

    /// `alg: none`, no signature.
    public static String unsigned(Claims claims) {
        Map<String, String> header = new LinkedHashMap<>();
        header.put("alg", "none");
        header.put("typ", "JWT");
        return base64(Json.write(header)) + "." + base64(claims.json()) + ".";
    }

    private JWSHeader header(@Nullable String keyId) {
        JWSHeader.Builder header = new JWSHeader.Builder(algorithm).type(JOSEObjectType.JWT);
        return (keyId == null ? header : header.keyID(keyId)).build();
    }

    private String sign(JWSHeader header, String payload) {
        try {
            JWSSigner signer = new DefaultJWSSignerFactory().createJWSSigner(key, algorithm);
            JWSObject token = new JWSObject(header, new Payload(payload));
            token.sign(signer);
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
