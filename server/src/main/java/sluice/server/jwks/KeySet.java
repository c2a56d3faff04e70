package sluice.server.jwks;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The public keys of one fetch that fit the pinned algorithm. Immutable.
///
/// A symmetric key is counted and left out: with it, whoever can read the set could sign.
final class KeySet {
    static final int KEYS_MAX = 64;
    private static final int RSA_BITS_MIN = 2048;

    /// One usable key.
    private record Key(@Nullable String kid, JWSVerifier verifier) {}

    private final List<Key> keys;
    private final int symmetricKeys;

    private KeySet(List<Key> keys, int symmetricKeys) {
        this.keys = List.copyOf(keys);
        this.symmetricKeys = symmetricKeys;
    }

    /// @throws JwksException when the text is no key set or nothing in it fits the algorithm
    static KeySet parse(byte[] body, SigningAlgorithm algorithm) throws JwksException {
        List<JWK> listed;
        try {
            listed = JWKSet.parse(new String(body, StandardCharsets.UTF_8)).getKeys();
        } catch (ParseException e) {
            throw new JwksException("the answer is not a JSON Web Key Set");
        }
        List<Key> usable = new ArrayList<>();
        int symmetric = 0;
        for (JWK key : listed) {
            if (key.getKeyType().equals(KeyType.OCT)) {
                symmetric++;
                continue;
            }
            JWSVerifier verifier = verifier(key, algorithm);
            if (verifier != null && usable.size() < KEYS_MAX) {
                usable.add(new Key(key.getKeyID(), verifier));
            }
        }
        if (usable.isEmpty()) {
            throw new JwksException("the key set has no usable key for " + algorithm);
        }
        return new KeySet(usable, symmetric);
    }

    private static @Nullable JWSVerifier verifier(JWK key, SigningAlgorithm algorithm) {
        if (key.getKeyUse() != null && !key.getKeyUse().equals(KeyUse.SIGNATURE)) {
            return null;
        }
        if (key.getAlgorithm() != null && !key.getAlgorithm().getName().equals(algorithm.name())) {
            return null;
        }
        try {
            return switch (algorithm) {
                case ES256 ->
                    key instanceof ECKey ec && ec.getCurve().equals(Curve.P_256)
                            ? new ECDSAVerifier(ec.toECPublicKey())
                            : null;
                case RS256 ->
                    key instanceof RSAKey rsa && rsa.size() >= RSA_BITS_MIN
                            ? new RSASSAVerifier(rsa.toRSAPublicKey())
                            : null;
            };
        } catch (JOSEException | IllegalStateException e) {
            // a point off the curve or a broken modulus: not a key anyone signs with
            return null;
        }
    }

    /// The keys a token may have been signed with: those of its `kid`, or all when it names none.
    List<JWSVerifier> candidates(@Nullable String kid) {
        return keys.stream()
                .filter(key -> kid == null || kid.equals(key.kid()))
                .map(Key::verifier)
                .toList();
    }

    int symmetricKeys() {
        return symmetricKeys;
    }
}
