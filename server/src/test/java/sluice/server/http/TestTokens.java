package sluice.server.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import sluice.server.jwks.JwksCache;
import sluice.server.jwks.JwksException;
import sluice.server.jwks.SigningAlgorithm;
import sluice.server.jwks.TokenRules;
import sluice.server.jwks.TokenVerifier;

/// Signs tokens with a key of its own, and verifies with that key.
public final class TestTokens {
    private final ECKey key;
    private volatile boolean down;
    private volatile boolean symmetricToo;

    public TestTokens() {
        try {
            key = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public String of(String subject) {
        return expiring(subject, Instant.now().plusSeconds(3600));
    }

    public String ofRole(String role) {
        long expires = Instant.now().plusSeconds(3600).getEpochSecond();
        return sign("{\"sub\":\"alice\",\"role\":\"" + role + "\",\"exp\":" + expires + "}");
    }

    public String expiring(String subject, Instant at) {
        return sign("{\"sub\":\"" + subject + "\",\"role\":\"authenticated\",\"exp\":" + at.getEpochSecond() + "}");
    }

    public String sign(String payload) {
        try {
            JWSObject token = new JWSObject(
                    new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build(), new Payload(payload));
            token.sign(new ECDSASigner(key));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Whoever asks for the keys from here on is answered, or not.
    void keysAre(boolean reachable, boolean withSymmetricOne) {
        down = !reachable;
        symmetricToo = withSymmetricOne;
    }

    private byte[] keySet() throws JwksException {
        if (down) {
            throw new JwksException("down");
        }
        List<JWK> keys = new ArrayList<>(List.of(key.toPublicJWK()));
        if (symmetricToo) {
            keys.add(new OctetSequenceKey.Builder(new byte[32]).keyID("s").build());
        }
        return new JWKSet(keys).toString(false).getBytes(StandardCharsets.UTF_8);
    }

    public TokenVerifier verifier() {
        try {
            JwksCache cache =
                    JwksCache.load(this::keySet, SigningAlgorithm.ES256, Duration.ofHours(1), System::nanoTime);
            TokenRules rules = new TokenRules(
                    SigningAlgorithm.ES256,
                    null,
                    "authenticated",
                    Duration.ofSeconds(10),
                    List.of("authenticated", "service_role"));
            return new TokenVerifier(rules, cache, InstantSource.system());
        } catch (JwksException e) {
            throw new IllegalStateException(e);
        }
    }
}
