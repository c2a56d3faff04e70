package sluice.server.config;

import org.jspecify.annotations.Nullable;

/// Which setting somebody may have meant.
final class Spelling {
    private static final int DISTANCE_MAX = 4;

    private Spelling() {}

    static @Nullable Setting known(String variable) {
        for (Setting setting : Setting.values()) {
            if (setting.variable().equals(variable)) {
                return setting;
            }
        }
        return null;
    }

    /// The closest variable, or null when none is close.
    static @Nullable String nearest(String variable) {
        String nearest = null;
        int least = Math.min(DISTANCE_MAX, Math.max(1, (variable.length() - Setting.PREFIX.length()) / 2)) + 1;
        for (Setting setting : Setting.values()) {
            int distance = distance(variable, setting.variable());
            if (distance < least) {
                least = distance;
                nearest = setting.variable();
            }
        }
        return nearest;
    }

    /// Insertions, removals and replacements between two words.
    private static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            int[] current = new int[right.length() + 1];
            current[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replaced = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[right.length()];
    }
}
