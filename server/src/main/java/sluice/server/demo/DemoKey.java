package sluice.server.demo;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/// The key that signs the demo's tokens. It lies in the demo's folder, readable by its owner only, and lasts as
/// long as the folder, so that a token survives a restart.
final class DemoKey {
    static final String AUDIENCE = "authenticated";

    private static final String FILE = "signing-key.json";

    private final ECKey key;

    private DemoKey(ECKey key) {
        this.key = key;
    }

    static DemoKey loadOrCreate(Path folder) throws DemoException {
        DemoKey existing = load(folder);
        if (existing != null) {
            return existing;
        }
        try {
            ECKey made = new ECKeyGenerator(Curve.P_256)
                    .algorithm(JWSAlgorithm.ES256)
                    .keyUse(KeyUse.SIGNATURE)
                    .keyIDFromThumbprint(true)
                    .generate();
            Folders.writePrivate(folder.resolve(FILE), made.toJSONString() + "\n");
            return new DemoKey(made);
        } catch (JOSEException | IOException e) {
            throw new DemoException("the signing key cannot be written to " + folder + " (" + e.getMessage() + ")", "");
        }
    }

    /// Null when the folder has none.
    static @Nullable DemoKey load(Path folder) throws DemoException {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            return null;
        }
        try {
            return new DemoKey(ECKey.parse(Files.readString(file, StandardCharsets.UTF_8)));
        } catch (IOException | ParseException e) {
            // The parser's message could quote the key.
            throw new DemoException(
                    "the signing key " + file + " cannot be read", "delete it: the next start makes a new one");
        }
    }

    /// The public half, as a key set.
    String keySet() {
        return new JWKSet(key.toPublicJWK()).toString();
    }

    /// @param subject null for a token without `sub`
    String sign(@Nullable String subject, String role, Duration validity) {
        return sign(subject, role, null, validity);
    }

    /// @param session null for a token that names none
    String sign(@Nullable String subject, String role, @Nullable String session, Duration validity) {
        Instant now = Instant.now();
        JWTClaimsSet claims = new JWTClaimsSet.Builder()
                .subject(subject)
                .claim("role", role)
                .claim("session_id", session)
                .audience(AUDIENCE)
                .issueTime(Date.from(now))
                .expirationTime(Date.from(now.plus(validity)))
                .build();
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(), claims);
        try {
            token.sign(new ECDSASigner(key));
        } catch (JOSEException e) {
            throw new IllegalStateException("signing with a P-256 key failed", e);
        }
        return token.serialize();
    }

    /// The claims that policies read, for a statement without a token.
    ///
    /// @param subject null for claims without `sub`
    static String claims(@Nullable String subject, String role) {
        ObjectNode claims = new JsonMapper().createObjectNode();
        if (subject != null) {
            claims.put("sub", subject);
        }
        return claims.put("role", role).toString();
    }
}
