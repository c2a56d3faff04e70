package sluice.server.demo;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The demo's users. Their ids never change, so rows keep their owner from run to run.
enum Person {
    ALICE("a11ce000-0000-4000-8000-000000000001"),
    BOB("b0b00000-0000-4000-8000-000000000002"),
    CAROL("ca201000-0000-4000-8000-000000000003");

    private final String id;

    Person(String id) {
        this.id = id;
    }

    /// The token's `sub`.
    String id() {
        return id;
    }

    /// As the command line and the page spell it.
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static @Nullable Person named(String label) {
        return Arrays.stream(values())
                .filter(person -> person.label().equals(label))
                .findFirst()
                .orElse(null);
    }
}
