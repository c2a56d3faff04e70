package sluice.server.jwks;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSVerifier;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import sluice.core.session.Identity;
import sluice.core.session.Refusal;
import sluice.core.session.Revocations;

/// Decides whom a bearer token speaks for.
///
/// The order is fixed: form, algorithm, signature, then claims; nothing in the payload is believed before the
/// signature holds. Last comes whether the session or its user was revoked, so a revoked token is refused wherever
/// tokens are. Claims go on as the bytes that were signed, so an integer keeps every digit and `sub` keeps its
/// case.
///
/// Thread-safe. May block while the key set is fetched, so never called on an event loop.
public final class TokenVerifier {
    static final int TOKEN_CHARS_MAX = 16 * 1024;
    private static final long LATEST_SECOND =
            Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

    /// A member given twice means different things to different readers, so it is refused.
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private final TokenRules rules;
    private final JwksCache keys;
    private final Revocations revocations;
    private final InstantSource clock;

    /// No session ever ends.
    public TokenVerifier(TokenRules rules, JwksCache keys, InstantSource clock) {
        this(rules, keys, Revocations.NONE, clock);
    }

    /// @param revocations thread-safe
    public TokenVerifier(TokenRules rules, JwksCache keys, Revocations revocations, InstantSource clock) {
        this.rules = rules;
        this.keys = keys;
        this.revocations = revocations;
        this.clock = clock;
    }

    /// @param bearer what followed `Bearer ` in the request
    public Verification verify(String bearer) {
        try {
            Identity identity = identity(bearer);
            Refusal refusal = revocations.refusal(identity, clock.instant());
            // what is not known now is the engine's to refuse, in a way that lets the client ask again
            return refusal == null || refusal == Refusal.UNSEEN
                    ? new Verification.Verified(identity)
                    : new Verification.Refused(refusal.message());
        } catch (TokenRefusal e) {
            return new Verification.Refused(e.reason);
        }
    }

    /// Why a caller that was verified may not be served now, null when it may.
    public @Nullable Refusal refusal(Identity caller) {
        return revocations.refusal(caller, clock.instant());
    }

    /// Fetches the keys again, now.
    ///
    /// @return how many symmetric keys the set has, none of which is loaded
    /// @throws JwksException when the set cannot be fetched or has no usable key; the known keys stay
    public int refreshKeys() throws JwksException {
        return keys.refresh();
    }

    /// Leaves the middle of a check; never leaves this class.
    private static final class TokenRefusal extends Exception {
        private static final long serialVersionUID = 1L;
        private final String reason;

        TokenRefusal(String reason) {
            super(reason, null, false, false);
            this.reason = reason;
        }
    }

    private Identity identity(String bearer) throws TokenRefusal {
        if (bearer.length() > TOKEN_CHARS_MAX) {
            throw new TokenRefusal("the token is longer than " + TOKEN_CHARS_MAX + " characters");
        }
        if (bearer.startsWith("sb_")) {
            throw new TokenRefusal("an opaque key is not a token");
        }
        JWSObject token;
        try {
            token = JWSObject.parse(bearer);
        } catch (ParseException | IllegalArgumentException e) {
            throw new TokenRefusal("the token is malformed");
        }
        checkSignature(token);
        String payload = utf8(token.getPayload().toBytes());
        return checkClaims(payload, claims(payload));
    }

    private void checkSignature(JWSObject token) throws TokenRefusal {
        JWSHeader header = token.getHeader();
        if (!header.getAlgorithm().getName().equals(rules.algorithm().name())) {
            throw new TokenRefusal("the token is not signed with " + rules.algorithm());
        }
        if (header.getCriticalParams() != null || !header.isBase64URLEncodePayload()) {
            throw new TokenRefusal("the token asks for an extension this server does not know");
        }
        var candidates = keys.candidates(header.getKeyID());
        if (candidates.isEmpty()) {
            throw new TokenRefusal("the token's key is not known");
        }
        for (JWSVerifier verifier : candidates) {
            try {
                if (token.verify(verifier)) {
                    return;
                }
            } catch (JOSEException | IllegalStateException e) {
                throw new TokenRefusal("the token's signature does not hold");
            }
        }
        throw new TokenRefusal("the token's signature does not hold");
    }

    private static String utf8(byte[] payload) throws TokenRefusal {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new TokenRefusal("the token's payload is not UTF-8");
        }
    }

    private static JsonNode claims(String payload) throws TokenRefusal {
        JsonNode claims;
        try {
            claims = JSON.readTree(payload);
        } catch (JacksonException e) {
            throw new TokenRefusal("the token's payload is not plain JSON");
        }
        if (!claims.isObject()) {
            throw new TokenRefusal("the token's payload is not an object");
        }
        return claims;
    }

    private Identity checkClaims(String payload, JsonNode claims) throws TokenRefusal {
        Instant now = clock.instant();
        BigDecimal expires = seconds(claims, "exp");
        if (expires == null) {
            throw new TokenRefusal("the token has no \"exp\"");
        }
        Instant expiresAt = instant(expires);
        if (!now.isBefore(expiresAt.plus(rules.leeway()))) {
            throw new TokenRefusal("the token has expired");
        }
        BigDecimal notBefore = seconds(claims, "nbf");
        if (notBefore != null && now.plus(rules.leeway()).isBefore(instant(notBefore))) {
            throw new TokenRefusal("the token is not valid yet");
        }
        if (rules.issuer() != null && !rules.issuer().equals(text(claims, "iss"))) {
            throw new TokenRefusal("the token is from another issuer");
        }
        String subject = text(claims, "sub");
        if (subject != null && !isForAudience(claims.get("aud"))) {
            throw new TokenRefusal("the token is for another audience");
        }
        String role = text(claims, "role");
        if (role == null) {
            throw new TokenRefusal("the token has no \"role\"");
        }
        if (!rules.allowedRoles().contains(role)) {
            throw new TokenRefusal("the token's role is not allowed");
        }
        JsonNode issued = claims.get("iat");
        Instant issuedAt = issued != null && issued.isNumber() ? instant(issued.decimalValue()) : null;
        return new Identity(subject, role, payload, expiresAt, session(claims), issuedAt);
    }

    /// A text claim; null when it is absent, null or empty.
    private static @Nullable String text(JsonNode claims, String name) throws TokenRefusal {
        JsonNode claim = claims.get(name);
        if (claim == null || claim.isNull()) {
            return null;
        }
        if (!claim.isTextual()) {
            throw new TokenRefusal("the token's \"" + name + "\" is not a string");
        }
        return claim.textValue().isEmpty() ? null : claim.textValue();
    }

    /// Ids of sessions are texts or whole numbers; a claim that is neither names none that could be looked for.
    private @Nullable String session(JsonNode claims) throws TokenRefusal {
        JsonNode claim = claims.get(rules.sessionClaim());
        return claim != null && claim.isIntegralNumber()
                ? claim.bigIntegerValue().toString()
                : text(claims, rules.sessionClaim());
    }

    private static @Nullable BigDecimal seconds(JsonNode claims, String name) throws TokenRefusal {
        JsonNode claim = claims.get(name);
        if (claim == null) {
            return null;
        }
        if (!claim.isNumber()) {
            throw new TokenRefusal("the token's \"" + name + "\" is not a number");
        }
        return claim.decimalValue();
    }

    /// Whole seconds, cut off at both ends of what a clock can show.
    private static Instant instant(BigDecimal seconds) {
        if (seconds.compareTo(BigDecimal.valueOf(LATEST_SECOND)) >= 0) {
            return Instant.ofEpochSecond(LATEST_SECOND);
        }
        return seconds.signum() <= 0 ? Instant.EPOCH : Instant.ofEpochSecond(seconds.longValue());
    }

    private boolean isForAudience(@Nullable JsonNode audience) {
        if (audience == null || audience.isNull()) {
            return true;
        }
        if (audience.isTextual()) {
            return audience.textValue().equals(rules.audience());
        }
        for (JsonNode one : audience) {
            if (audience.isArray() && one.isTextual() && one.textValue().equals(rules.audience())) {
                return true;
            }
        }
        return false;
    }
}
