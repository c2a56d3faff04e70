package sluice.core.dispatch;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sluice.core.catalog.Relation;
import sluice.core.expression.Fold;
import sluice.core.expression.FoldAnswer;

/// A short text that differs whenever a shape would show its caller other rows or columns: what a position is worth
/// depends on it. Tells nothing of what went into it.
final class RightsDigest {
    private static final int BYTES = 12;

    private final MessageDigest digest;

    RightsDigest() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    RightsDigest of(String role, Relation relation) {
        return add(role).add(relation.fingerprint()).add(relation.rightsFingerprint());
    }

    /// What PostgreSQL says of the caller: the claims the rule uses, and nothing else of the token.
    RightsDigest of(List<Fold> folds, List<FoldAnswer> answers) {
        for (int i = 0; i < folds.size(); i++) {
            add(folds.get(i).sql());
            switch (answers.get(i)) {
                case FoldAnswer.Value(var text) -> add(text);
                case FoldAnswer.Raised(var sqlState) -> add("raised").add(sqlState);
            }
        }
        return this;
    }

    /// Parts are kept apart by their length.
    RightsDigest add(@Nullable String part) {
        byte[] bytes = part == null ? new byte[0] : part.getBytes(StandardCharsets.UTF_8);
        int length = part == null ? -1 : bytes.length;
        for (int shift = 24; shift >= 0; shift -= 8) {
            digest.update((byte) (length >> shift));
        }
        digest.update(bytes);
        return this;
    }

    String text() {
        byte[] all = digest.digest();
        byte[] some = new byte[BYTES];
        System.arraycopy(all, 0, some, 0, BYTES);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(some);
    }
}
