package sluice.core.session;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/// What stands for a token's claims where many are told apart and none has to be known: a token may be long, and what
/// is remembered by it must not be. Two claims that differ have different ones.
public final class ClaimsDigest {
    private ClaimsDigest() {}

    /// @param claims as {@link Identity} has them
    public static String of(String claims) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(claims.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
